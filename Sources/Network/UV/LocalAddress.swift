import Glibc
public import TenfourSession

extension IPAddress {
    /// Whether an interface of this machine has the address. Tries to bind a socket to the address, because each kind
    /// of address has its own rules. The C function is `bind`.
    public var isLocal: Bool {
        do throws(NetworkError) {
            let loop = try EventLoop()
            _ = try UDPSocket(on: loop, bindingTo: Endpoint(self, port: 0))
            loop.closeAll()
            return true
        } catch {
            // Other errors say nothing about an interface of this machine either.
            return false
        }
    }

    /// Whether this machine knows a way to the address. Sends nothing. The C function is `connect`.
    public var hasRoute: Bool {
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Without IPv6 in the kernel, there is no way to its addresses.
        guard descriptor >= 0 else { return errno != EAFNOSUPPORT }
        defer { close(descriptor) }
        let target = SocketAddress(Endpoint(self, port: 9), family: family)
        let byteCount = socklen_t(MemoryLayout<sockaddr_in6>.size)
        guard unsafe target.withPointer({ unsafe connect(descriptor, $0, byteCount) }) != 0 else { return true }
        return ![ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL].contains(errno)
    }
}

extension IPAddress {
    /// The address of this machine from which datagrams to this address are sent; nil if there is no route. Sends none.
    /// The C functions are `connect` and `getsockname`.
    public var localSource: IPAddress? {
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var byteCount = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let target = SocketAddress(Endpoint(self, port: 9), family: family)
        guard unsafe target.withPointer({ unsafe connect(descriptor, $0, byteCount) }) == 0 else { return nil }
        var address = sockaddr_in6()
        return unsafe withUnsafeMutableBytes(of: &address) { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return unsafe getsockname(descriptor, start, &byteCount) == 0 ? Endpoint(start)?.address : nil
        }
    }
}

extension Endpoint {
    /// The largest datagram on the way to this endpoint, with its IP header, in bytes, as far as the kernel knows: the
    /// MTU of the interface, or less if a router has said so in the last minutes. Nil if there is no route. Sends
    /// nothing. The C functions are `connect`, and `getsockopt` with IP_MTU or IPV6_MTU.
    public var pathMTU: Int? {
        let family = address.family
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let byteCount = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let target = SocketAddress(self, family: family)
        guard unsafe target.withPointer({ unsafe connect(descriptor, $0, byteCount) }) == 0 else { return nil }
        var mtu: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let isIPv4 = family == AF_INET
        let code = unsafe getsockopt(
            descriptor, Int32(isIPv4 ? IPPROTO_IP : IPPROTO_IPV6), isIPv4 ? IP_MTU : IPV6_MTU, &mtu, &length)
        return code == 0 ? Int(mtu) : nil
    }
}
