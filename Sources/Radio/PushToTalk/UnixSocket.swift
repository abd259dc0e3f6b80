internal import CLinux
internal import Glibc
internal import TenfourSystem

/// The calls of Unix stream sockets. The C functions are `bind`, `listen`, `accept`, `send` and `recv`.
enum UnixSocket {
    /// Listens at `path`, which only the user may connect to, and replaces the file of a process that has ended. Returns
    /// a descriptor that the caller must close.
    static func listen(at path: String) throws(PTTSocketError) -> Int32 {
        guard let address = UnixSocketAddress(path: path) else { throw .tooLong(path) }
        let descriptor: Int32
        do throws(UnixSocketError) {
            try address.removeLeftover()
            descriptor = try UnixSocketAddress.stream(isBlocking: false)
        } catch {
            throw PTTSocketError(error, path)
        }
        var code = unsafe address.withSocketAddress { unsafe bind(descriptor, $0, $1) }
        if code == 0 { code = unsafe chmod(path, 0o600) }
        if code == 0 { code = Glibc.listen(descriptor, 16) }
        guard code == 0 else {
            let reason = errno
            close(descriptor)
            throw .failed("cannot listen at \(path)", reason)
        }
        return descriptor
    }

    /// Connects to the socket at `path`. Returns a descriptor that the caller must close.
    static func connect(to path: String) throws(PTTSocketError) -> Int32 {
        guard let address = UnixSocketAddress(path: path) else { throw .tooLong(path) }
        do throws(UnixSocketError) {
            return try address.connect(isBlocking: false)
        } catch {
            throw PTTSocketError(error, path)
        }
    }

    /// Accepts a connection; nil if there is none.
    static func accept(_ listener: Int32) -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }

    /// Returns the user of the process at the other end; nil if the kernel does not tell.
    static func user(of descriptor: Int32) -> uid_t? {
        var user: uid_t = 0
        return unsafe clinux_peer_user(descriptor, &user) == 0 ? user : nil
    }

    /// Sends without waiting. Returns whether all bytes were taken.
    static func send(_ text: String, to descriptor: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            == bytes.count
    }

    enum Received {
        case bytes(ArraySlice<UInt8>)
        case nothing
        /// The other end has closed the connection, or it is broken.
        case end
    }

    /// Receives what is there, at most 4096 bytes, without waiting.
    static func receive(from descriptor: Int32) -> Received {
        var room = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe recv(descriptor, &room, room.count, Int32(MSG_DONTWAIT))
        if count > 0 { return .bytes(room[..<count]) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
    }
}

extension PTTSocketError {
    fileprivate init(_ error: UnixSocketError, _ path: String) {
        switch error.call {
        case .socket: self = .failed("cannot make a socket", error.code)
        case .bind: self = .failed("cannot listen at \(path)", error.code)
        case .connect: self = .failed("cannot connect to \(path)", error.code)
        }
    }
}
