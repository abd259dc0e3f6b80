import CUV
import Glibc
import TenfourSession

extension UDPSocket {
    /// Creates a socket that is not bound yet, and returns the endpoint to which it is to be bound: the requested one,
    /// or its IPv4 counterpart if the kernel does not support IPv6.
    static func open(
        on loop: EventLoop, _ endpoint: Endpoint, _ options: SocketOptions
    ) throws(NetworkError) -> (UnsafeMutablePointer<uv_udp_t>, Endpoint) {
        precondition(options.serviceCodePoint < 64, "a service code point has six bits")
        precondition(
            1...65_536 ~= options.longestDatagram && options.sendQueueCapacity > 0,
            "the longest datagram is 1 to 65536 bytes, and one at least can wait")
        do throws(NetworkError) {
            return unsafe (try open(on: loop, Reach(endpoint, options).family), endpoint)
        } catch {
            guard error.code == EAFNOSUPPORT else { throw error }
            guard endpoint.address == .anyV6, !options.isIPv6Only else {
                throw NetworkError(.noIPv6, function: error.function, code: error.code)
            }
            return unsafe (try open(on: loop, AF_INET), Endpoint(.anyV4, port: endpoint.port))
        }
    }

    private static func open(
        on loop: EventLoop, _ family: Int32
    ) throws(NetworkError) -> UnsafeMutablePointer<uv_udp_t> {
        let flags = UInt32(family) | UV_UDP_RECVMMSG.rawValue
        return unsafe try initialised("uv_udp_init_ex") { unsafe uv_udp_init_ex(loop.loop, $0, flags) }
    }

    static func fileDescriptor(of socket: UnsafeMutablePointer<uv_udp_t>) -> Int32 {
        var fileDescriptor: Int32 = -1
        let handle = unsafe UnsafeRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self)
        let code = unsafe uv_fileno(handle, &fileDescriptor)
        precondition(code == 0, "an open socket has a file descriptor")
        return fileDescriptor
    }

    /// Sets all options that must be set before the socket is bound. IP_RECVERR and IPV6_RECVERR request the ICMP
    /// errors that the network sends back. IP_MULTICAST_ALL and IPV6_MULTICAST_ALL are set to 0: otherwise Linux
    /// delivers every group that any program on this machine has joined.
    static func apply(_ options: SocketOptions, to socket: Int32, _ reach: Reach) throws(NetworkError) {
        let trafficClass = Int32(options.serviceCodePoint) * 4
        let interface = try options.multicastInterface.map { (name) throws(NetworkError) in
            try interfaceIndex(of: name)
        }
        if reach != .ipv4 {
            try set(IPV6_V6ONLY, IPPROTO_IPV6, "IPV6_V6ONLY", reach == .ipv6 ? 1 : 0, on: socket)
            try set(IPV6_RECVERR, IPPROTO_IPV6, "IPV6_RECVERR", 1, on: socket)
            try set(IPV6_TCLASS, IPPROTO_IPV6, "IPV6_TCLASS", trafficClass, on: socket)
            try set(
                IPV6_MULTICAST_HOPS, IPPROTO_IPV6, "IPV6_MULTICAST_HOPS", Int32(options.multicastTimeToLive), on: socket
            )
            try set(
                IPV6_MULTICAST_LOOP, IPPROTO_IPV6, "IPV6_MULTICAST_LOOP", options.loopsMulticastBack ? 1 : 0, on: socket
            )
            try set(IPV6_MULTICAST_ALL, IPPROTO_IPV6, "IPV6_MULTICAST_ALL", 0, on: socket)
            if options.neverFragments {
                try set(IPV6_MTU_DISCOVER, IPPROTO_IPV6, "IPV6_MTU_DISCOVER", IPV6_PMTUDISC_DO, on: socket)
            }
            if let interface {
                try set(
                    IPV6_MULTICAST_IF, IPPROTO_IPV6, "IPV6_MULTICAST_IF", Int32(bitPattern: interface), on: socket)
            }
        }
        if reach != .ipv6 {
            try set(IP_RECVERR, IPPROTO_IP, "IP_RECVERR", 1, on: socket)
            try set(IP_TOS, IPPROTO_IP, "IP_TOS", trafficClass, on: socket)
            try set(IP_MULTICAST_TTL, IPPROTO_IP, "IP_MULTICAST_TTL", Int32(options.multicastTimeToLive), on: socket)
            try set(IP_MULTICAST_LOOP, IPPROTO_IP, "IP_MULTICAST_LOOP", options.loopsMulticastBack ? 1 : 0, on: socket)
            try set(IP_MULTICAST_ALL, IPPROTO_IP, "IP_MULTICAST_ALL", 0, on: socket)
            if options.neverFragments {
                try set(IP_MTU_DISCOVER, IPPROTO_IP, "IP_MTU_DISCOVER", IP_PMTUDISC_DO, on: socket)
            }
            if let interface {
                var request = ip_mreqn()
                request.imr_ifindex = Int32(bitPattern: interface)
                try set(IP_MULTICAST_IF, IPPROTO_IP, "IP_MULTICAST_IF", request, on: socket)
            }
        }
        switch options.portSharing {
        case .none, .offered: break
        case .joined, .connected: try set(SO_REUSEPORT, SOL_SOCKET, "SO_REUSEPORT", 1, on: socket)
        }
        if let size = options.receiveBufferSize {
            try set(SO_RCVBUF, SOL_SOCKET, "SO_RCVBUF", Int32(clamping: size), on: socket)
        }
        if let size = options.sendBufferSize {
            try set(SO_SNDBUF, SOL_SOCKET, "SO_SNDBUF", Int32(clamping: size), on: socket)
        }
    }

    /// Binds the socket. Returns its actual endpoint.
    static func bind(
        _ socket: UnsafeMutablePointer<uv_udp_t>, to endpoint: Endpoint, _ options: SocketOptions
    ) throws(NetworkError) -> Endpoint {
        let address = SocketAddress(endpoint, family: Reach(endpoint, options).family)
        func bind(_ flags: UInt32) -> Int32 { unsafe address.withPointer { unsafe uv_udp_bind(socket, $0, flags) } }
        let takesYielded = options.takesYieldedPort && !options.reusesAddress
        func bindOrTake() throws(NetworkError) -> Int32 {
            let code = bind(options.reusesAddress ? UV_UDP_REUSEADDR.rawValue : 0)
            guard code == -EADDRINUSE, takesYielded, YieldedPort.isMarked(endpoint.port) else { return code }
            // Binds to the yielded port. Its previous socket still exists, but the kernel delivers to the newer of two
            // sockets with one port.
            let taken = bind(UV_UDP_REUSEADDR.rawValue)
            unsafe try set(SO_REUSEADDR, SOL_SOCKET, "SO_REUSEADDR", Int32(0), on: fileDescriptor(of: socket))
            return taken
        }
        var code = try bindOrTake()
        if code == -EADDRINUSE, takesYielded {
            // Waits and tries again. Another tenfour that is starting may have bound the port, and not yet created its
            // marker.
            usleep(YieldedPort.longestMarking)
            code = try bindOrTake()
        }
        if code != 0 { throw NetworkError(bindingTo: endpoint, code) }
        switch options.portSharing {
        case .none, .connected: break
        case .offered: unsafe try set(SO_REUSEPORT, SOL_SOCKET, "SO_REUSEPORT", 1, on: fileDescriptor(of: socket))
        case .joined:
            let code = unsafe tenfour_first_of_port_receives(fileDescriptor(of: socket))
            try NetworkError.check("setsockopt(SO_ATTACH_REUSEPORT_CBPF)", code)
        }

        var bound = sockaddr_storage()
        var size = Int32(MemoryLayout<sockaddr_storage>.size)
        return try unsafe withUnsafeMutableBytes(of: &bound) { (bytes) throws(NetworkError) in
            guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return endpoint }
            try NetworkError.check("uv_udp_getsockname", unsafe uv_udp_getsockname(socket, start, &size))
            return unsafe Endpoint(start) ?? endpoint
        }
    }

    /// Makes the kernel form the SO_REUSEPORT group now. The kernel forms the group when a second socket binds the
    /// port, so this binds a second socket and closes it again. Only in a group does the kernel run the filter program,
    /// which delivers all datagrams to the first socket. Without the filter it would distribute them over all sockets.
    func formGroup(on loop: EventLoop, _ options: SocketOptions) throws(NetworkError) {
        var options = options
        options.portSharing = .joined
        do throws(NetworkError) {
            try UDPSocket(on: loop, bindingTo: localEndpoint, options: options).close()
        } catch {
            close()
            throw error
        }
    }

    /// Lets a socket with `takesYieldedPort` take our port from now on. No socket can take the port before this call,
    /// so a port that another tenfour is just taking over is not shared. If the marker cannot be created, the port
    /// stays ours.
    func yieldPort() throws(NetworkError) {
        yielded = YieldedPort(localEndpoint.port)
        guard yielded != nil else { return }
        do throws(NetworkError) {
            try Self.set(SO_REUSEADDR, SOL_SOCKET, "SO_REUSEADDR", Int32(1), on: fileDescriptor)
        } catch {
            close()
            throw error
        }
    }

    /// Sets a socket option; `title` is its name in errors. The C function is `setsockopt`.
    static func set<Value: BitwiseCopyable>(
        _ option: Int32, _ level: some BinaryInteger, _ title: String, _ value: Value, on socket: Int32
    ) throws(NetworkError) {
        let code = unsafe withUnsafeBytes(of: value) { bytes in
            unsafe setsockopt(socket, Int32(level), option, bytes.baseAddress, socklen_t(bytes.count))
        }
        if code != 0 { throw NetworkError("setsockopt(\(title))", -errno) }
    }
}

extension UDPSocket.Reach {
    init(_ endpoint: Endpoint, _ options: SocketOptions) {
        // Chooses IPv6 for a `connected` socket in any case. An IPv6 socket that is bound to an IPv4 address receives
        // only the datagrams that match no other socket. Of two unconnected sockets, the kernel delivers to the newer
        // one if both are IPv4 only, and to the older one if both are IPv6.
        let isOfIPv6 = endpoint.address.family == AF_INET6 || options.portSharing == .connected
        self = !isOfIPv6 ? .ipv4 : options.isIPv6Only ? .ipv6 : .ipv4AndIPv6
    }

    var family: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }

    /// The length of a socket address of this family, in bytes.
    var addressByteCount: socklen_t {
        socklen_t(self == .ipv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
    }
}

extension IPAddress {
    var family: Int32 {
        switch self {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }
}

extension NetworkError {
    /// Creates an error from the result of `uv_udp_bind`.
    init(bindingTo endpoint: Endpoint, _ code: Int32) {
        self.init("uv_udp_bind", code)
        switch -code {
        case EADDRINUSE: reason = .portInUse(endpoint.port, by: PortHolder(of: endpoint.port))
        case EACCES: reason = .portReserved(endpoint.port)
        case EADDRNOTAVAIL, ENODEV: reason = .addressNotLocal(endpoint.address)
        case EINVAL where endpoint.address.isLinkLocalWithoutScope: reason = .interfaceMissing(endpoint.address)
        default: break
        }
    }
}

extension IPAddress {
    /// Whether the address is in fe80::/10 (RFC 4291 section 2.5.6) and has no scope.
    var isLinkLocalWithoutScope: Bool {
        if case .v6(_, _, 0) = self { isLinkLocal } else { false }
    }
}
