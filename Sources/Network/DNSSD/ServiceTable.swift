internal import TenfourAudioCore
internal import TenfourSession

/// What Avahi's browser reports: one service, as it was seen on one interface over IPv4 or IPv6.
struct ServiceItem: Hashable, Sendable {
    var interface: Int32
    /// Avahi's number of the protocol: 0 for IPv4, 1 for IPv6.
    var protocolNumber: Int32
    var id: FoundService.ID
}

/// The services that a browser has found, at most 64, each on at most 8 interfaces.
///
/// It opens no connection: it says which items to resolve, and which resolvers are no longer needed.
struct ServiceTable: Sendable {
    /// The services that were reported but have no place; at most `maximumHiddenCount` are remembered.
    private var hidden: Set<FoundService.ID> = []
    private var entries: [Entry] = []

    fileprivate struct Entry: Sendable {
        let id: FoundService.ID
        var isOnThisMachine: Bool
        var sightings: [Sighting] = []
    }

    fileprivate struct Sighting: Sendable {
        let item: ServiceItem
        var resolver: String?
        var resolution: Resolution?
    }

    /// What a resolver found.
    struct Resolution: Hashable, Sendable {
        var host: String
        var address: IPAddress
        var port: UInt16
        var text: [[UInt8]]
    }

    static let maximumServiceCount = 64
    static let maximumSightingCount = 8
    static let maximumHiddenCount = 1_024

    var hiddenCount: Int { hidden.count }

    /// Adds an item. Returns whether it is to be resolved.
    mutating func insert(_ item: ServiceItem, isOnThisMachine: Bool) -> Bool {
        guard let place = entries.firstIndex(where: { $0.id == item.id }) else {
            guard entries.count < Self.maximumServiceCount else {
                if hidden.count < Self.maximumHiddenCount { hidden.insert(item.id) }
                return false
            }
            entries.append(Entry(id: item.id, isOnThisMachine: isOnThisMachine, sightings: [Sighting(item: item)]))
            return true
        }
        if isOnThisMachine { entries[place].isOnThisMachine = true }
        let sightings = entries[place].sightings
        guard sightings.count < Self.maximumSightingCount, !sightings.contains(where: { $0.item == item }) else {
            return false
        }
        entries[place].sightings.append(Sighting(item: item))
        return true
    }

    mutating func setResolver(_ path: String, of item: ServiceItem) {
        change {
            $0.item == item
        } to: {
            $0.resolver = path
        }
    }

    /// Removes an item, and returns the path of its resolver, which is to be freed.
    mutating func remove(_ item: ServiceItem) -> String? {
        hidden.remove(item.id)
        guard let place = entries.firstIndex(where: { $0.id == item.id }),
            let index = entries[place].sightings.firstIndex(where: { $0.item == item })
        else { return nil }
        let sighting = entries[place].sightings.remove(at: index)
        if entries[place].sightings.isEmpty { entries.remove(at: place) }
        return sighting.resolver
    }

    /// Records what the resolver with this path has found. Returns whether the listed services have changed.
    mutating func resolved(_ path: String, _ resolution: Resolution) -> Bool {
        let before = services
        change {
            $0.resolver == path
        } to: {
            $0.resolution = resolution
        }
        return services != before
    }

    /// Forgets a resolver that has failed, and returns its item, which may be resolved again later.
    mutating func resolverFailed(_ path: String) -> ServiceItem? {
        var item: ServiceItem?
        change {
            $0.resolver == path
        } to: {
            $0.resolver = nil
            $0.resolution = nil
            item = $0.item
        }
        return item
    }

    mutating func removeAll() { self = ServiceTable() }

    /// Begins to count the hidden services anew, because all services will be reported again.
    mutating func forgetHidden() { hidden = [] }

    func contains(_ item: ServiceItem) -> Bool {
        entries.contains { $0.sightings.contains { $0.item == item } }
    }

    /// The services with a known address, in the order in which they were first seen.
    var services: [FoundService] { entries.compactMap(\.service) }

    private mutating func change(_ isMeant: (Sighting) -> Bool, to change: (inout Sighting) -> Void) {
        for place in entries.indices {
            for index in entries[place].sightings.indices where isMeant(entries[place].sightings[index]) {
                return change(&entries[place].sightings[index])
            }
        }
    }
}

extension ServiceTable.Entry {
    fileprivate var service: FoundService? {
        let known = sightings.compactMap { sighting in sighting.resolution.map { (sighting.item.interface, $0) } }
        guard let first = known.first?.1 else { return nil }
        var endpoints: [Endpoint] = []
        for (interface, resolution) in known {
            let endpoint = Endpoint(resolution.address.scoped(to: interface), port: resolution.port)
            if !endpoints.contains(endpoint) { endpoints.append(endpoint) }
        }
        endpoints = (0...IPAddress.lastRank).flatMap { rank in endpoints.filter { $0.address.rank == rank } }
        return FoundService(
            id: id, name: String(fromPeer: id.name, limit: 63), host: String(fromPeer: first.host, limit: 100),
            endpoints: endpoints, text: StationText(parsing: first.text), isOnThisMachine: isOnThisMachine)
    }
}

extension IPAddress {
    /// The address with the interface as scope, if it is link-local (fe80::/10).
    fileprivate func scoped(to interface: Int32) -> IPAddress {
        guard isLinkLocal, case .v6(let high, let low, _) = self, interface > 0 else { return self }
        return .v6(high: high, low: low, scope: UInt32(interface))
    }

    fileprivate static let lastRank = 3

    /// The place in the order in which addresses are tried.
    fileprivate var rank: Int {
        if isLoopback { return Self.lastRank }
        if case .v4 = self { return 0 }
        return isLinkLocal ? 2 : 1
    }
}
