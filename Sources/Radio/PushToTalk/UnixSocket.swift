internal import CLinux
internal import Glibc

/// The calls of Unix stream sockets. The C functions are `socket`, `bind`, `connect`, `send` and `recv`.
enum UnixSocket {
    /// Listens at `path`, which only the user may connect to, and replaces the file of a process that has ended. Returns
    /// a descriptor that the caller must close.
    static func listen(at path: String) throws(PTTSocketError) -> Int32 {
        if case .failed(_, ECONNREFUSED)? = failure(ofConnectingTo: path) { _ = unsafe unlink(path) }
        let descriptor = try make()
        var code = unsafe try withAddress(path) { unsafe bind(descriptor, $0, $1) }
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
        let descriptor = try make()
        let code = unsafe try withAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) }
        guard code == 0 else {
            let reason = errno
            close(descriptor)
            throw .failed("cannot connect to \(path)", reason)
        }
        return descriptor
    }

    private static func failure(ofConnectingTo path: String) -> PTTSocketError? {
        do throws(PTTSocketError) {
            close(try connect(to: path))
            return nil
        } catch {
            return error
        }
    }

    private static func make() throws(PTTSocketError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw .failed("cannot make a socket", errno) }
        return descriptor
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(PTTSocketError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .tooLong(path) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            for (index, byte) in path.utf8.enumerated() { unsafe room[index] = byte }
        }
        return unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe body(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(bytes.count))
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
