/// The source or destination of a datagram: an IP address and a UDP port.
public struct Endpoint: Hashable, Sendable {
    public var address: IPAddress
    public var port: UInt16

    public init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }
}

/// An IPv4 or IPv6 address as a number, most significant byte first.
///
/// An IPv4 address mapped into IPv6 (`::ffff:a.b.c.d`) is kept as IPv4, so that one host is one value.
public enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    /// `scope` is the interface index of a link-local address; zero for any other address.
    case v6(high: UInt64, low: UInt64, scope: UInt32)

    public static let anyV4 = IPAddress.v4(0)
    public static let anyV6 = IPAddress.v6(high: 0, low: 0, scope: 0)
    public static let loopbackV4 = IPAddress.v4(0x7F00_0001)

    /// Whether the address is in 224.0.0.0/4 or ff00::/8.
    public var isMulticast: Bool {
        switch self {
        case .v4(let number): number >> 28 == 0xE
        case .v6(let high, _, _): high >> 56 == 0xFF
        }
    }

    /// Whether the address is 0.0.0.0 or ::.
    public var isUnspecified: Bool {
        switch self {
        case .v4(let number): number == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// Whether the address is in 127.0.0.0/8 or is ::1.
    public var isLoopback: Bool {
        switch self {
        case .v4(let number): number >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }
}

extension IPAddress {
    /// Whether the address is in 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291 section 2.5.6).
    package var isLinkLocal: Bool {
        switch self {
        case .v4(let number): number >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0xFE80 >> 6
        }
    }

    /// Whether the address is of a network that the routers of the internet do not reach: private (RFC 1918), shared
    /// (RFC 6598) or unique local (RFC 4193).
    package var isPrivate: Bool {
        switch self {
        case .v4(let number):
            number >> 24 == 10 || number >> 20 == 0xAC1 || number >> 16 == 0xC0A8 || number >> 22 == 0x191
        case .v6(let high, _, _): high >> 57 == 0xFC >> 1
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The dotted quad, or the eight groups of RFC 5952 with the longest run of zeros left out.
    public var description: String {
        switch self {
        case .v4(let number):
            return [24, 16, 8, 0].map { String(number >> $0 & 0xFF) }.joined(separator: ".")
        case .v6(let high, let low, let scope):
            let groups = [48, 32, 16, 0].map { high >> $0 & 0xFFFF } + [48, 32, 16, 0].map { low >> $0 & 0xFFFF }
            let zeros = longestRunOfZeros(in: groups)
            let text =
                if let zeros {
                    hexadecimal(groups[..<zeros.lowerBound]) + "::" + hexadecimal(groups[zeros.upperBound...])
                } else {
                    hexadecimal(groups[...])
                }
            return scope == 0 ? text : "\(text)%\(scope)"
        }
    }
}

extension Endpoint: CustomStringConvertible {
    /// For example `192.0.2.1:5004` or `[2001:db8::1]:5004`.
    public var description: String {
        switch address {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address)]:\(port)"
        }
    }
}

private func hexadecimal(_ groups: ArraySlice<UInt64>) -> String {
    groups.map { String($0, radix: 16) }.joined(separator: ":")
}

private func longestRunOfZeros(in groups: [UInt64]) -> Range<Int>? {
    var longest = 0..<0
    var start = 0
    for index in 0...groups.count where index == groups.count || groups[index] != 0 {
        if index - start > longest.count { longest = start..<index }
        start = index + 1
    }
    return longest.count > 1 ? longest : nil
}
