import CUV
import Glibc
import TenfourAudioCore
public import TenfourSession

/// Accepts TCP connections and hands over their descriptors. Use it on the loop's thread only.
///
/// While the process has no free descriptor, it stops accepting and tries again every 100 ms; connections wait in the
/// kernel meanwhile. The C functions are `bind`, `listen` and `accept`.
public final class TCPListener {
    /// The address and port on which it listens; the port is the kernel's choice if 0 was asked for.
    public let endpoint: Endpoint
    private let loop: EventLoop
    private let descriptor: Int32
    private let accepted: (Int32, Endpoint) -> Void
    private var readable: LoopHandle?
    private var retry: LoopTimer?

    /// The number of connections that are accepted before other callbacks of the loop run.
    private static let burst = 64
    /// The lowest descriptor of a connection, if the limit on open files allows it. A library that uses select(2), as
    /// libshout does, ends the process if its own descriptor is 1024 or more.
    private static let lowestDescriptor: Int32 = 1024

    /// Listens at `endpoint`. `accepted` gets each connection's descriptor and the peer's endpoint. The descriptor is
    /// non-blocking, and `accepted` owns it. The connections send small pieces at once (TCP_NODELAY), and have kernel
    /// buffers of `sendBufferSize` and `receiveBufferSize` bytes.
    public init(
        on loop: EventLoop, listeningAt endpoint: Endpoint, sendBufferSize: Int, receiveBufferSize: Int,
        accepted: @escaping (_ descriptor: Int32, _ peer: Endpoint) -> Void
    ) throws(NetworkError) {
        (descriptor, self.endpoint) = try Self.listen(at: endpoint, sendBufferSize, receiveBufferSize)
        self.loop = loop
        self.accepted = accepted
        do throws(NetworkError) {
            retry = try loop.makeTimer { [weak self] in self?.watch() }
            readable = try loop.onReadable(descriptor) { [weak self] in self?.accept() }
        } catch {
            retry?.close()
            Glibc.close(descriptor)
            throw error
        }
    }

    deinit {
        readable?.close()
        retry?.close()
        Glibc.close(descriptor)
    }

    private func watch() {
        readable = try? loop.onReadable(descriptor) { [weak self] in self?.accept() }
        if readable == nil { retry?.arm(at: loop.now + .milliseconds(100)) }
    }

    private func accept() {
        for _ in 0..<Self.burst {
            var address = sockaddr_in6()
            var byteCount = socklen_t(MemoryLayout<sockaddr_in6>.size)
            var (connection, peer) = unsafe withUnsafeMutableBytes(of: &address) { bytes in
                let start = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
                let connection = unsafe Glibc.accept(descriptor, start, &byteCount)
                return unsafe (connection, connection < 0 ? nil : Endpoint(start))
            }
            if connection >= 0 {
                let high = fcntl(connection, F_DUPFD_CLOEXEC, Self.lowestDescriptor)
                if high >= 0 {
                    Glibc.close(connection)
                    connection = high
                } else {
                    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                }
                _ = fcntl(connection, F_SETFL, O_NONBLOCK)
                if let peer { accepted(connection, peer) } else { Glibc.close(connection) }
                continue
            }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                readable?.close()
                readable = nil
                retry?.arm(at: loop.now + .milliseconds(100))
                return
            case EAGAIN: return
            // The connection ended before it was accepted, or a signal came.
            default: continue
            }
        }
    }

    private static func listen(
        at endpoint: Endpoint, _ sendBufferSize: Int, _ receiveBufferSize: Int
    ) throws(NetworkError) -> (Int32, Endpoint) {
        let family =
            switch endpoint.address {
            case .v4: AF_INET
            case .v6: AF_INET6
            }
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, flags, 0)
        guard descriptor >= 0 else { throw NetworkError("socket", -errno) }
        do throws(NetworkError) {
            try UDPSocket.set(SO_REUSEADDR, SOL_SOCKET, "SO_REUSEADDR", Int32(1), on: descriptor)
            try UDPSocket.set(SO_SNDBUF, SOL_SOCKET, "SO_SNDBUF", Int32(clamping: sendBufferSize), on: descriptor)
            try UDPSocket.set(SO_RCVBUF, SOL_SOCKET, "SO_RCVBUF", Int32(clamping: receiveBufferSize), on: descriptor)
            try UDPSocket.set(TCP_NODELAY, Int32(IPPROTO_TCP), "TCP_NODELAY", Int32(1), on: descriptor)
            let byteCount = socklen_t(
                family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
            let address = SocketAddress(endpoint, family: family)
            guard unsafe address.withPointer({ unsafe Glibc.bind(descriptor, $0, byteCount) }) == 0 else {
                throw NetworkError(listeningAt: endpoint, "bind", errno)
            }
            guard Glibc.listen(descriptor, SOMAXCONN) == 0 else {
                throw NetworkError(listeningAt: endpoint, "listen", errno)
            }
            return (descriptor, try name(of: descriptor))
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private static func name(of descriptor: Int32) throws(NetworkError) -> Endpoint {
        var address = sockaddr_in6()
        var byteCount = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let endpoint = unsafe withUnsafeMutableBytes(of: &address) { bytes -> Endpoint? in
            let start = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return unsafe getsockname(descriptor, start, &byteCount) == 0 ? Endpoint(start) : nil
        }
        guard let endpoint else { throw NetworkError("getsockname", -errno) }
        return endpoint
    }
}

extension NetworkError {
    /// Creates the error of a call that makes a socket listen at `endpoint`.
    fileprivate init(listeningAt endpoint: Endpoint, _ function: String, _ code: Int32) {
        let reason: Reason =
            switch code {
            case EADDRINUSE: .tcpPortInUse(endpoint.port)
            case EADDRNOTAVAIL: .addressNotLocal(endpoint.address)
            case EACCES: .tcpPortReserved(endpoint.port)
            default: .refused
            }
        self.init(reason, function: function, code: code)
    }
}
