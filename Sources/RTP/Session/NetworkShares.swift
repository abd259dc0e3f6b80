/// The number of members of one channel, or of connections of one server, in each network: an IPv4 /24 or an IPv6 /48.
///
/// Where there is no room, a newcomer may displace a listener of the network with the most listeners. It needs one
/// dictionary entry for each network with members. All counts are read in constant time.
package struct NetworkShares: Sendable {
    private var shares: [UInt64: Share] = [:]
    /// At index n, the number of networks that have n listeners.
    private var listenerHistogram: [Int] = [0]

    private struct Share: Sendable {
        var members: Int32 = 0
        var listeners: Int32 = 0
    }

    /// The highest number of listeners in one network.
    package private(set) var mostListeners = 0

    package init() {}

    /// The number of members, talkers and listeners, in the network of an address.
    package func memberCount(near address: IPAddress) -> Int { Int(shares[address.networkPrefix]?.members ?? 0) }

    /// The number of listeners in the network of an address.
    package func listenerCount(near address: IPAddress) -> Int { Int(shares[address.networkPrefix]?.listeners ?? 0) }

    /// Returns whether a newcomer from `address` may displace a listener of the network with the most listeners: that
    /// network has at least two listeners, and more than twice as many as the newcomer's network has members.
    package func mayDisplace(from address: IPAddress) -> Bool {
        mostListeners >= 2 && memberCount(near: address) * 2 < mostListeners
    }

    package mutating func add(_ address: IPAddress, isListener: Bool) {
        shares[address.networkPrefix, default: Share()].members += 1
        if isListener { count(address, step: 1) }
    }

    /// Removes a member that was added with the same arguments.
    package mutating func remove(_ address: IPAddress, isListener: Bool) {
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
