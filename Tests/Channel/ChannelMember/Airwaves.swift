import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport

/// A relay on the simulated network.
protocol RelayEnd: AnyObject {
    var endpoint: Endpoint { get }
    func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant)
    func nextDatagram() -> (bytes: [UInt8], to: Endpoint)?
    var nextDeadline: Instant? { get }
    func timeElapsed(at now: Instant)
}

/// A network of members and a relay, with a line between the relay and each member, on a clock that only the test
/// moves.
final class Airwaves {
    private(set) var now = Instant.start
    private(set) var members: [Member]
    private(set) var relay: any RelayEnd
    /// Relays besides `relay`, for members that know several.
    private let others: [any RelayEnd]
    /// The relays to which and from which nothing passes.
    var silent: Set<Endpoint> = []
    /// For each member, the emulated links to the relay and from it.
    private var lines: [(out: EmulatedLink, back: EmulatedLink)]
    private var flight = PacketsInFlight<Route>(capacity: 8_192, byteCapacity: 256)
    /// For each member, in nanoseconds: `deadlines` is when its timers are due, `speeches` when it sends its next
    /// packet; `.max` for never.
    private var deadlines: [Int64]
    private var speeches: [Int64]
    /// Called for each datagram that the relay sends.
    var watch: ((_ datagram: [UInt8], _ member: Int) -> Void)?
    /// Returns whether to drop a datagram on the line of a member, in addition to the losses of the emulated link.
    var loses: ((_ datagram: [UInt8], _ member: Int) -> Bool)?

    private struct Route: Sendable {
        var sender: Endpoint
        /// The index of the receiving member; nil if the receiver is a relay.
        var member: Int?
        var relay: Endpoint
    }

    static let relay = Endpoint(.v4(0xC633_6401), port: 5_004)

    /// Returns the endpoint of a member. All members share one address, as behind one NAT, and differ in the port.
    static func endpoint(_ index: Int) -> Endpoint { Endpoint(.v4(0xC000_0201), port: 40_000 + UInt16(index)) }

    static func clock(at now: Instant) -> WallClock {
        WallClock(milliseconds: 1_700_000_000_000 + UInt64(now.nanoseconds / 1_000_000))
    }

    init(
        _ members: [Member], _ relay: any RelayEnd, others: [any RelayEnd] = [],
        network: NetworkModel = NetworkModel(delay: .milliseconds(10)),
        seed: UInt64 = 1
    ) {
        self.members = members
        self.relay = relay
        self.others = others
        lines = members.indices.map { Self.line(network, $0, seed) }
        deadlines = members.map { _ in .max }
        speeches = deadlines
        for index in members.indices { flush(index) }
    }

    private static func line(_ network: NetworkModel, _ index: Int, _ seed: UInt64) -> (EmulatedLink, EmulatedLink) {
        let seed = seed &* 10_000 &+ UInt64(2 * index)
        return (
            EmulatedLink(network, seed: seed, beginning: .start),
            EmulatedLink(network, seed: seed + 1, beginning: .start)
        )
    }

    /// Replaces the links of one member; nil keeps the link of that direction.
    func change(_ index: Int, out: NetworkModel? = nil, back: NetworkModel? = nil, seed: UInt64 = 7) {
        if let out { lines[index].out = EmulatedLink(out, seed: seed, beginning: now) }
        if let back { lines[index].back = EmulatedLink(back, seed: seed + 1, beginning: now) }
    }

    func add(_ member: Member, network: NetworkModel = NetworkModel(delay: .milliseconds(10)), seed: UInt64 = 1) {
        members.append(member)
        lines.append(Self.line(network, members.count - 1, seed))
        deadlines.append(.max)
        speeches.append(.max)
        flush(members.count - 1)
    }

    /// Replaces a member by another process with the same endpoint, so that the network sees no difference.
    func replace(_ index: Int, by member: Member) {
        members[index] = member
        flush(index)
    }

    func replace(relay: any RelayEnd) { self.relay = relay }

    func run(seconds: Double) { run(until: now + .nanoseconds(Int64(seconds * 1e9))) }

    func run(until end: Instant) {
        for index in members.indices { noteMoments(of: index) }
        while let next = nextMoment, next <= end {
            now = max(now, next)
            for index in members.indices where speeches[index] <= now.nanoseconds {
                if members[index].speak(at: now) { flush(index) }
                noteMoments(of: index)
            }
            deliver()
            for index in members.indices where deadlines[index] <= now.nanoseconds {
                members[index].timeElapsed(at: now)
                flush(index)
            }
            for relay in relays {
                guard let deadline = relay.nextDeadline, deadline <= now else { continue }
                relay.timeElapsed(at: now)
                settle(relay)
            }
        }
        now = max(now, end)
    }

    /// Delivers a datagram to a member directly, as if it had come from `sender`.
    @discardableResult
    func inject(_ datagram: [UInt8], to index: Int, from sender: Endpoint = Airwaves.relay) -> Channel.Reception {
        let reception = members[index].receive(datagram, from: sender, at: now)
        flush(index)
        return reception
    }

    func settleRelay() { settle(relay) }

    private var relays: [any RelayEnd] { [relay] + others }

    private func settle(_ relay: any RelayEnd) {
        while let (bytes, endpoint) = relay.nextDatagram() {
            guard let index = index(at: endpoint), !silent.contains(relay.endpoint) else { continue }
            watch?(bytes, index)
            if loses?(bytes, index) ?? false { continue }
            let route = Route(sender: relay.endpoint, member: index, relay: relay.endpoint)
            launch(bytes, on: route, lines[index].back.fate(ofPacket: bytes.count, at: now))
        }
    }

    private func index(at endpoint: Endpoint) -> Int? {
        let number = Int(endpoint.port) - 40_000
        if members.indices.contains(number), members[number].endpoint == endpoint { return number }
        return members.firstIndex { $0.endpoint == endpoint }
    }

    /// Moves a member to another port: it sends from the new one, and datagrams to the old one are lost.
    func move(_ index: Int, to number: Int) { members[index].endpoint = Self.endpoint(number) }

    /// Sends the member's pending datagrams and reads its next deadlines. Call it after each input.
    func flush(_ index: Int) {
        members[index].flush(at: now)
        noteMoments(of: index)
        for (bytes, endpoint) in members[index].takeOutput() where relays.contains(where: { $0.endpoint == endpoint }) {
            if silent.contains(endpoint) { continue }
            if loses?(bytes, index) ?? false { continue }
            let route = Route(sender: members[index].endpoint, member: nil, relay: endpoint)
            launch(bytes, on: route, lines[index].out.fate(ofPacket: bytes.count, at: now))
        }
    }

    private func launch(_ datagram: [UInt8], on route: Route, _ fate: Fate) {
        switch fate {
        case .lost: break
        case .delivered(let due): insert(datagram, route, due)
        case .doubled(let due, let again):
            insert(datagram, route, due)
            insert(datagram, route, again)
        }
    }

    private func insert(_ datagram: [UInt8], _ route: Route, _ due: Instant) {
        let hasRoom = flight.insert(datagram.span, for: route, due: due)
        precondition(hasRoom, "more is under way than a simulation holds")
    }

    private var nextMoment: Instant? {
        var next = min(deadlines.min() ?? .max, speeches.min() ?? .max)
        for moment in [flight.nextDelivery] + relays.map(\.nextDeadline) {
            if let moment { next = min(next, moment.nanoseconds) }
        }
        return next == .max ? nil : Instant(nanoseconds: next)
    }

    private func noteMoments(of index: Int) {
        deadlines[index] = members[index].nextDeadline?.nanoseconds ?? .max
        speeches[index] = members[index].speech?.nextPacket?.nanoseconds ?? .max
    }

    private func deliver() {
        while true {
            var due: (address: Route, due: Instant)?
            let datagram = [UInt8](capacity: 2_048) { due = flight.next(due: now, into: &$0) }
            guard let route = due?.address else { return }
            if let member = route.member {
                members[member].receive(datagram, from: route.sender, at: now)
                flush(member)
            } else if let relay = relays.first(where: { $0.endpoint == route.relay }) {
                relay.receive(datagram, from: route.sender, at: now)
                settle(relay)
            }
        }
    }
}
