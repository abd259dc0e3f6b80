internal import TenfourSession

/// The number of members of one channel in each network: an IPv4 /24 or an IPv6 /48.
///
/// It needs one dictionary entry for each network with members. All counts are read in constant time.
struct NetworkShares: Sendable {
    private var shares: [UInt64: Share] = [:]
    /// At index n, the number of networks that have n listeners.
    private var listenerHistogram: [Int] = [0]

    private struct Share: Sendable {
        var members: Int32 = 0
        var listeners: Int32 = 0
    }

    /// The highest number of listeners in one network.
    private(set) var mostListeners = 0

    /// The number of members, talkers and listeners, in the network of an address.
    func memberCount(near address: IPAddress) -> Int { Int(shares[address.networkPrefix]?.members ?? 0) }

    /// The number of listeners in the network of an address.
    func listenerCount(near address: IPAddress) -> Int { Int(shares[address.networkPrefix]?.listeners ?? 0) }

    mutating func add(_ address: IPAddress, isListener: Bool) {
        shares[address.networkPrefix, default: Share()].members += 1
        if isListener { count(address, step: 1) }
    }

    /// Removes a member that was added with the same arguments.
    mutating func remove(_ address: IPAddress, isListener: Bool) {
        if isListener { count(address, step: -1) }
        let members = (shares[address.networkPrefix]?.members ?? 1) - 1
        if members > 0 {
            shares[address.networkPrefix]?.members = members
        } else {
            shares[address.networkPrefix] = nil
        }
    }

    private mutating func count(_ address: IPAddress, step: Int) {
        let before = listenerCount(near: address)
        let after = max(before + step, 0)
        shares[address.networkPrefix]?.listeners = Int32(after)
        if before > 0 { listenerHistogram[before] -= 1 }
        if after == listenerHistogram.count { listenerHistogram.append(0) }
        if after > 0 { listenerHistogram[after] += 1 }
        mostListeners = max(mostListeners, after)
        while mostListeners > 0, listenerHistogram[mostListeners] == 0 { mostListeners -= 1 }
    }
}

extension IPAddress {
    /// The prefix that identifies the network of a site or customer: 24 bits of an IPv4 address, 48 bits of an IPv6
    /// address.
    var networkPrefix: UInt64 {
        switch self {
        case .v4(let number): 0xFFFF_FFFF_0000_0000 | UInt64(number & 0xFFFF_FF00)
        case .v6(let high, _, _): high & 0xFFFF_FFFF_FFFF_0000
        }
    }
}
