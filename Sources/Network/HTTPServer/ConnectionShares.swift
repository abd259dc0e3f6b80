internal import TenfourSession

/// The connections of an HTTP server, and the share that each host (an IPv4 address, or an IPv6 /64) and each network (an
/// IPv4 /24, or an IPv6 /48) has of them.
struct ConnectionShares {
    private(set) var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private var hosts: [UInt64: Int] = [:]
    private var networks = NetworkShares()
    private var nextNumber = 0

    var count: Int { connections.count }

    /// The number of connections of the host at `address`.
    func count(ofHost address: IPAddress) -> Int { hosts[address.hostPrefix, default: 0] }

    /// Adds a connection, whose client is `client`, or not known yet.
    mutating func add(_ connection: HTTPConnection, of client: IPAddress?) {
        connection.number = nextNumber
        nextNumber += 1
        connections[ObjectIdentifier(connection)] = connection
        if let client { set(client, of: connection) }
    }

    /// Removes a connection, and does nothing if it is removed already.
    mutating func remove(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        set(nil, of: connection)
    }

    /// Counts a connection for `client` from now on.
    mutating func set(_ client: IPAddress?, of connection: HTTPConnection) {
        if let old = connection.client {
            let count = hosts[old.hostPrefix, default: 1] - 1
            hosts[old.hostPrefix] = count > 0 ? count : nil
            networks.remove(old, isListener: true)
        }
        connection.client = client
        guard let client else { return }
        hosts[client.hostPrefix, default: 0] += 1
        networks.add(client, isListener: true)
    }

    /// The connection that gives way to another one: that of a proxy which has waited longest for a request, or else, for
    /// a connection of `address`, the newest of the network with the most. It is never `own`. Nil if none has to, as for a
    /// network that has connections and no right to more.
    func displaceable(by address: IPAddress?, besides own: HTTPConnection?) -> HTTPConnection? {
        if let address, networks.memberCount(near: address) > 0, !networks.mayDisplace(from: address) { return nil }
        let waiting = connections.values.filter {
            $0.isProxy && $0.request == nil && $0.client == nil && $0 !== own
        }
        if let oldest = waiting.min(by: { $0.number < $1.number }) { return oldest }
        guard let address, networks.mayDisplace(from: address) else { return nil }
        return connections.values.filter { connection in
            connection.client.map { networks.listenerCount(near: $0) == networks.mostListeners } ?? false
        }.max { $0.number < $1.number }
    }
}
