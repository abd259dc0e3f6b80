import TenfourAudioCore
import TenfourChannelKeys
import TenfourSeededRandom

@testable import TenfourDirectWay

/// Hosts, some behind routers that translate addresses, on a simulated clock. A datagram takes 20 ms.
struct SimulatedNetwork {
    /// A router with one public address. It lets in only datagrams from addresses to which the mapping has sent.
    struct Router {
        let address: UInt32
        /// Whether each destination gets another port: no direct way passes that.
        var isSymmetric = false
        var isPortPreserving = true
        fileprivate var mappings: [Mapping] = []
        fileprivate var nextPort: UInt16 = 50_000

        init(address: UInt32) { self.address = address }
    }

    fileprivate struct Mapping {
        var inner: PeerAddress
        var port: UInt16
        /// The destination, if the router is symmetric.
        var destination: PeerAddress?
        var allowed: Set<PeerAddress> = []
    }

    struct Datagram {
        var at: Instant
        var source, destination: PeerAddress
        var bytes: [UInt8]
    }

    var now = Instant.start
    var routers: [UInt32: Router] = [:]
    /// The public address of the router before each private host; nil for a host with a public address.
    private var hosts: [PeerAddress: UInt32?] = [:]
    /// The share of datagrams that is lost.
    var loss = 0.0
    /// Pairs of hosts between which nothing passes.
    var broken: Set<Set<PeerAddress>> = []
    private var flying: [Datagram] = []
    private var randomness: SeededRandom
    /// Each datagram that was sent to the network, with the inner address of its sender.
    private(set) var sent: [Datagram] = []

    static let latency: Duration = .milliseconds(20)

    init(seed: UInt64) { randomness = SeededRandom(seed: seed) }

    mutating func add(_ host: PeerAddress, behind router: UInt32?) { hosts[host] = .some(router) }

    /// The router forgets its mappings, and gives new ports, as after a restart.
    mutating func rebind(_ router: UInt32) {
        routers[router]?.mappings = []
        routers[router]?.isPortPreserving = false
    }

    /// The address by which `destination` sees `host`.
    mutating func view(of host: PeerAddress, from destination: PeerAddress) -> PeerAddress {
        guard let router = hosts[host] ?? nil else { return host }
        return mapped(host, router, to: destination)
    }

    mutating func send(_ bytes: [UInt8], from source: PeerAddress, to destination: PeerAddress) {
        sent.append(Datagram(at: now, source: source, destination: destination, bytes: bytes))
        guard !randomness.happens(loss) else { return }
        let router = hosts[source] ?? nil
        if let inside = hosts[destination], let router, inside == router, AddressReach(destination) == .local {
            return fly(bytes, from: source, to: destination)
        }
        fly(bytes, from: view(of: source, from: destination), to: destination)
    }

    /// Sends with a source address that is not the sender's.
    mutating func spoof(_ bytes: [UInt8], from source: PeerAddress, to destination: PeerAddress) {
        fly(bytes, from: source, to: destination)
    }

    private mutating func fly(_ bytes: [UInt8], from source: PeerAddress, to destination: PeerAddress) {
        flying.append(Datagram(at: now + Self.latency, source: source, destination: destination, bytes: bytes))
    }

    /// Returns the datagrams that have arrived, and the inner addresses of their receivers.
    mutating func arrivals() -> [Datagram] {
        let due = flying.filter { $0.at <= now }
        flying.removeAll { $0.at <= now }
        return due.compactMap { datagram in
            var datagram = datagram
            guard let receiver = receiver(of: datagram) else { return nil }
            datagram.destination = receiver
            return broken.contains { $0.contains(receiver) && $0.contains(owner(of: datagram.source)) } ? nil : datagram
        }
    }

    private func receiver(of datagram: Datagram) -> PeerAddress? {
        let destination = datagram.destination
        if let router = hosts[destination] {
            // A private address is reached from its own network only.
            guard let router else { return destination }
            return (hosts[datagram.source] ?? nil) == router ? destination : nil
        }
        guard let number = destination.v4, let router = routers[number] else { return nil }
        return router.mappings.first {
            $0.port == destination.port && $0.allowed.contains(datagram.source)
                && ($0.destination == nil || $0.destination == datagram.source)
        }?.inner
    }

    private func owner(of source: PeerAddress) -> PeerAddress {
        guard let number = source.v4, let router = routers[number] else { return source }
        return router.mappings.first { $0.port == source.port }?.inner ?? source
    }

    private mutating func mapped(_ host: PeerAddress, _ number: UInt32, to destination: PeerAddress) -> PeerAddress {
        guard var router = routers[number] else { return host }
        defer { routers[number] = router }
        let wanted: PeerAddress? = router.isSymmetric ? destination : nil
        if let place = router.mappings.firstIndex(where: { $0.inner == host && $0.destination == wanted }) {
            router.mappings[place].allowed.insert(destination)
            return PeerAddress(v4: number, port: router.mappings[place].port)
        }
        let isFree = !router.mappings.contains { $0.port == host.port }
        var port = host.port
        if !router.isPortPreserving || router.isSymmetric || !isFree {
            router.nextPort += 7
            port = router.nextPort
        }
        router.mappings.append(Mapping(inner: host, port: port, destination: wanted, allowed: [destination]))
        return PeerAddress(v4: number, port: port)
    }
}
