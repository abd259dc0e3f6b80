extension IPAddress {
    /// The prefix that identifies one host: the IPv4 address, or the upper 64 bits of an IPv6 address. An IPv4 prefix
    /// lies in the multicast range ff00::/8, so it equals the prefix of no IPv6 host.
    @inlinable package var hostPrefix: UInt64 {
        switch self {
        case .v4(let number): 0xFFFF_FFFF_0000_0000 | UInt64(number)
        case .v6(let high, _, _): high
        }
    }

    /// The prefix that identifies the network of a site or customer: 24 bits of an IPv4 address, 48 bits of an IPv6
    /// address.
    @inlinable package var networkPrefix: UInt64 {
        switch self {
        case .v4(let number): 0xFFFF_FFFF_0000_0000 | UInt64(number & 0xFFFF_FF00)
        case .v6(let high, _, _): high & 0xFFFF_FFFF_FFFF_0000
        }
    }
}
