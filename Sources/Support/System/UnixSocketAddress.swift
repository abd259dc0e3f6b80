package import Glibc

/// The address of a Unix socket: a path, or an abstract name of Linux. The C type is `sockaddr_un`.
package struct UnixSocketAddress: Hashable, Sendable {
    /// The used bytes of `sun_path`.
    private let bytes: [UInt8]

    /// The maximum length of a path in bytes, since a zero byte follows it.
    package static let maximumPathByteCount = maximumByteCount - 1
    private static let maximumByteCount = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// Returns nil if the path is longer than `maximumPathByteCount`.
    package init?(path: String) {
        guard path.utf8.count <= Self.maximumPathByteCount else { return nil }
        bytes = Array(path.utf8) + [0]
    }

    /// A name that no file has. Returns nil if it is longer than 107 bytes.
    package init?(abstract name: String) {
        guard name.utf8.count < Self.maximumByteCount else { return nil }
        bytes = [0] + Array(name.utf8)
    }

    /// Calls `body` with the address and its length for `bind`, `connect` or `sendto`.
    package func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        return unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// Connects a stream socket, which later calls wait for unless `isBlocking` is false. Returns a descriptor that the
    /// caller must close. The C functions are `socket` and `connect`.
    package func connect(isBlocking: Bool) throws(UnixSocketError) -> Int32 {
        let descriptor = try Self.stream(isBlocking: isBlocking)
        guard unsafe withSocketAddress({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            throw UnixSocketError(call: .connect, code: code)
        }
        return descriptor
    }

    /// Makes a stream socket, which programs that this process starts do not get. The caller must close it.
    package static func stream(isBlocking: Bool) throws(UnixSocketError) -> Int32 {
        let flags = Int32(SOCK_CLOEXEC.rawValue) | (isBlocking ? 0 : Int32(SOCK_NONBLOCK.rawValue))
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | flags, 0)
        guard descriptor >= 0 else { throw UnixSocketError(call: .socket, code: errno) }
        return descriptor
    }

    /// Removes the socket file of a process that has ended. A file that is no socket stays. Throws EADDRINUSE if a
    /// process listens at the path.
    package func removeLeftover() throws(UnixSocketError) {
        var status = stat()
        guard let path, unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        do throws(UnixSocketError) {
            close(try connect(isBlocking: false))
        } catch {
            if error.code == ECONNREFUSED { _ = unsafe unlink(path) }
            return
        }
        throw UnixSocketError(call: .bind, code: EADDRINUSE)
    }

    /// Nil for an abstract name.
    private var path: String? { bytes.first == 0 ? nil : String(decoding: bytes.dropLast(), as: UTF8.self) }
}

/// A call failed; `code` is its errno.
package struct UnixSocketError: Error, Hashable, Sendable {
    package enum Call: String, Sendable { case socket, bind, connect }

    package let call: Call
    package let code: Int32
}
