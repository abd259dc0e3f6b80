internal import TenfourSession

/// Members, or others who take places, grouped by the prefix of their addresses, so that it is known which prefix has
/// the most. Adding, and finding the largest group, take constant time; removing takes time in proportion to the group.
struct AddressGroups<Element: Equatable & Sendable>: Sendable {
    /// The elements of each prefix, the oldest first.
    private var groups: [UInt64: [Element]] = [:]
    /// At index n, the prefixes with n + 1 elements.
    private var prefixes: [Set<UInt64>] = []

    /// The number of elements of the largest group.
    var mostCount: Int { prefixes.count }

    func count(of prefix: UInt64) -> Int { groups[prefix]?.count ?? 0 }

    /// The element that was added last to one of the largest groups; nil if there is none.
    var newestOfLargest: Element? { prefixes.last?.first.flatMap { groups[$0]?.last } }

    /// Whether a newcomer with this prefix may take a place of one of the largest groups, which then has at least two, and
    /// more than twice as many as the newcomer's.
    func yields(to prefix: UInt64) -> Bool { mostCount >= 2 && mostCount > 2 * count(of: prefix) }

    mutating func add(_ element: Element, to prefix: UInt64) {
        groups[prefix, default: []].append(element)
        regroup(prefix, from: count(of: prefix) - 1)
    }

    /// Removes an element that was added with the same prefix.
    mutating func remove(_ element: Element, from prefix: UInt64) {
        guard let place = groups[prefix]?.lastIndex(of: element) else { return }
        groups[prefix]?.remove(at: place)
        let count = count(of: prefix)
        if count == 0 { groups[prefix] = nil }
        regroup(prefix, from: count + 1)
    }

    private mutating func regroup(_ prefix: UInt64, from former: Int) {
        let count = count(of: prefix)
        if former > 0 { prefixes[former - 1].remove(prefix) }
        if count > prefixes.count { prefixes.append([]) }
        if count > 0 { prefixes[count - 1].insert(prefix) }
        while prefixes.last?.isEmpty ?? false { prefixes.removeLast() }
    }
}

/// The places that hosts and networks share: when all are taken, a newcomer may take one of those who have the most.
struct SharedPlaces<Element: Equatable & Sendable>: Sendable {
    private var hosts = AddressGroups<Element>()
    private var networks = AddressGroups<Element>()
    private(set) var count = 0

    mutating func add(_ element: Element, at address: IPAddress) {
        hosts.add(element, to: address.hostPrefix)
        networks.add(element, to: address.networkPrefix)
        count += 1
    }

    /// Removes an element that was added with the same address.
    mutating func remove(_ element: Element, at address: IPAddress) {
        hosts.remove(element, from: address.hostPrefix)
        networks.remove(element, from: address.networkPrefix)
        count -= 1
    }

    /// The number of places of the host with this address.
    func count(ofHost address: IPAddress) -> Int { hosts.count(of: address.hostPrefix) }

    /// Returns the element that gives way to a newcomer; nil if none does. While a host has several places, a host
    /// takes the newest place of one with the most, if that has more than twice as many. If each host has one place
    /// only, a host without a place takes the newest place of the network with the most, if that has two, and more than
    /// twice as many. So each host keeps a place while there are fewer hosts than places, also among strangers in its
    /// network.
    func yielding(to address: IPAddress) -> Element? {
        if hosts.mostCount >= 2 { return hosts.yields(to: address.hostPrefix) ? hosts.newestOfLargest : nil }
        guard count(ofHost: address) == 0 else { return nil }
        return networks.yields(to: address.networkPrefix) ? networks.newestOfLargest : nil
    }

    /// The newest element of one of the hosts with the most; nil if there is none.
    var newestOfLargestHost: Element? { hosts.newestOfLargest }
}
