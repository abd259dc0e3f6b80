internal import Glibc

/// The network interfaces and default routes of this machine.
public struct NetworkFacts: Sendable {
    public struct Interface: Hashable, Sendable {
        public var name: String
        public var isUp: Bool
        public var isLoopback: Bool
        public var isMulticast: Bool
        /// The largest datagram with its IP header, in bytes; nil if unknown.
        public var mtu: Int?

        public init(name: String, isUp: Bool = true, isLoopback: Bool = false, isMulticast: Bool = true, mtu: Int?) {
            self.name = name
            self.isUp = isUp
            self.isLoopback = isLoopback
            self.isMulticast = isMulticast
            self.mtu = mtu
        }
    }

    public struct Route: Hashable, Sendable {
        public var interface: String
        public var metric: UInt32
        public var isIPv6: Bool

        public init(interface: String, metric: UInt32, isIPv6: Bool = false) {
            self.interface = interface
            self.metric = metric
            self.isIPv6 = isIPv6
        }
    }

    /// In the order in which the kernel lists them.
    public var interfaces: [Interface]
    /// The default routes.
    public var routes: [Route]
    /// The largest datagram on the way to the other end, with its IP header, in bytes; nil if unknown.
    public var pathMTU: Int?

    public init(interfaces: [Interface], routes: [Route], pathMTU: Int? = nil) {
        self.interfaces = interfaces
        self.routes = routes
        self.pathMTU = pathMTU
    }

    /// The interfaces that lead to other machines.
    var outward: [Interface] { interfaces.filter { $0.isUp && !$0.isLoopback } }
}

extension NetworkFacts {
    static func gathered(on machine: Machine) -> NetworkFacts {
        NetworkFacts(
            interfaces: interfaces(),
            // The routes of this thread's network namespace.
            routes: routes(machine.text(of: "/proc/thread-self/net/route") ?? "")
                + routesIPv6(machine.text(of: "/proc/thread-self/net/ipv6_route") ?? ""))
    }

    /// The C functions are `getifaddrs` and `ioctl` with SIOCGIFMTU.
    private static func interfaces() -> [Interface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { if descriptor >= 0 { close(descriptor) } }
        var found: [Interface] = []
        var next = unsafe list
        while let entry = unsafe next {
            let (name, flags) = unsafe (String(cString: entry.pointee.ifa_name), entry.pointee.ifa_flags)
            if !found.contains(where: { $0.name == name }) {
                func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
                found.append(
                    Interface(
                        name: name, isUp: has(Int(IFF_UP)) && has(Int(IFF_RUNNING)),
                        isLoopback: has(Int(IFF_LOOPBACK)),
                        isMulticast: has(Int(IFF_MULTICAST)), mtu: mtu(of: name, descriptor)))
            }
            unsafe next = unsafe entry.pointee.ifa_next
        }
        return found
    }

    private static func mtu(of name: String, _ descriptor: Int32) -> Int? {
        // `struct ifreq`: the name in 16 bytes, then a union that begins with the answer.
        var request = [UInt8](repeating: 0, count: 40)
        guard name.utf8.count < 16 else { return nil }
        for (index, byte) in name.utf8.enumerated() { request[index] = byte }
        return unsafe request.withUnsafeMutableBytes { bytes in
            guard let place = bytes.baseAddress, unsafe ioctl(descriptor, UInt(SIOCGIFMTU), place) == 0 else {
                return nil
            }
            return unsafe Int(place.load(fromByteOffset: 16, as: Int32.self))
        }
    }

    /// Reads the default routes of `/proc/net/route`: interface, destination, gateway, flags, two counts, metric, mask.
    static func routes(_ table: String) -> [Route] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(whereSeparator: \.isWhitespace)
            guard columns.count > 7, columns[1] == "00000000", columns[7] == "00000000",
                let flags = UInt32(columns[3], radix: 16), flags & 1 != 0, flags & 0x200 == 0
            else { return nil }
            return Route(interface: String(columns[0]), metric: UInt32(columns[6]) ?? 0)
        }
    }

    /// Reads the default routes of `/proc/net/ipv6_route`: destination and its length, source and its length, gateway,
    /// metric, two counts, flags, interface.
    static func routesIPv6(_ table: String) -> [Route] {
        table.split(separator: "\n").compactMap { line in
            let columns = line.split(whereSeparator: \.isWhitespace)
            guard columns.count == 10, columns[0].allSatisfy({ $0 == "0" }), columns[1] == "00",
                let flags = UInt32(columns[8], radix: 16), flags & 1 != 0, flags & 0x200 == 0, columns[9] != "lo"
            else { return nil }
            return Route(
                interface: String(columns[9]), metric: UInt32(columns[5], radix: 16) ?? 0, isIPv6: true)
        }
    }
}
