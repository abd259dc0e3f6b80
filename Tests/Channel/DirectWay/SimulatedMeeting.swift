import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourSeededRandom

@testable import TenfourDirectWay

/// Members of a managed channel on a simulated network, with a relay that passes their records and media on. Records take 20 ms
/// each way, and arrive.
struct SimulatedMeeting {
    struct Station {
        let identity: MemberIdentity
        let host: PeerAddress
        var way: DirectWay?
        var isPresent = true
        var isTalking = false
        var allowed = false
        var limited: Set<UInt16> = []
        var next: UInt64 = 0
        /// The packets that were played, by their sender, with the moment; and those that came again.
        var played: [UInt16: [(number: UInt64, at: Instant, isDirect: Bool)]] = [:]
        var duplicateCount = 0
        var windows: [UInt16: ReplayWindow] = [:]
        var routes: [(at: Instant, event: DirectWay.Event)] = []
        var lastMedia: Instant?
        /// The newest candidates of each sender, as they came.
        var candidates: [UInt16: SealedCandidates] = [:]
    }

    var network: SimulatedNetwork
    var stations: [UInt16: Station] = [:]
    /// Members without a direct way of this module: they send what a test wants.
    var strangersPresent: UInt32 = 0
    private var records: [(at: Instant, index: UInt16, bytes: [UInt8])] = []
    private var randomness: SeededRandom

    static let channelID: UInt128 = 77
    static let relay = PeerAddress(v4: 0xC633_6401, port: 5004)
    var step: Duration = .milliseconds(10)
    private static let mediaByteCount = 60

    private(set) var now = Instant.start

    init(seed: UInt64 = 1) {
        network = SimulatedNetwork(seed: seed)
        randomness = SeededRandom(seed: seed)
    }

    /// Adds a member at `host`, behind a router with the public address `router`, if it has one.
    mutating func add(_ index: UInt16, at host: PeerAddress, behind router: UInt32? = nil, usesDirect: Bool = true) {
        let identity = MemberIdentity(using: &randomness)
        if let router, network.routers[router] == nil { network.routers[router] = .init(address: router) }
        network.add(host, behind: router)
        stations[index] = Station(identity: identity, host: host)
        if usesDirect { start(index) }
    }

    /// Begins a run of a member.
    mutating func start(_ index: UInt16) {
        guard let station = stations[index] else { return }
        var way = DirectWay(station.identity, index: index, channelID: Self.channelID, using: &randomness)
        way.joined(at: now)
        stations[index]?.way = way
        stations[index]?.allowed = false
        updateView(index)
    }

    /// The relay tells the member by which address it sees it.
    mutating func updateView(_ index: UInt16) {
        guard let host = stations[index]?.host else { return }
        let view = network.view(of: host, from: Self.relay)
        stations[index]?.way?.update(view: view, local: [host], relays: [Self.relay], at: now)
    }

    mutating func run(_ duration: Duration) {
        let end = now + duration
        while now < end { turn() }
    }

    /// Runs until the condition holds, and returns whether it did within `duration`.
    mutating func run(within duration: Duration, until condition: (Self) -> Bool) -> Bool {
        let end = now + duration
        while now < end {
            if condition(self) { return true }
            turn()
        }
        return condition(self)
    }

    private mutating func turn() {
        now = now + step
        network.now = now
        for datagram in network.arrivals() { deliver(datagram) }
        let due = records.filter { $0.at <= now }
        records.removeAll { $0.at <= now }
        for record in due { deliver(record.bytes, to: record.index) }
        for index in stations.keys.sorted() { poll(index) }
    }

    // MARK: - Members

    private mutating func poll(_ index: UInt16) {
        guard var station = stations[index], station.isPresent, var way = station.way else { return }
        let isDue = station.lastMedia.map { now - $0 >= .milliseconds(20) } ?? true
        if station.isTalking, isDue { way.mediaActive(at: now) }
        way.poll(at: now, using: &randomness)
        var sent: [[UInt8]] = []
        while let record = way.nextRecord(at: now) { sent.append(record) }
        while let datagram = way.nextDatagram() {
            network.send(datagram.bytes, from: station.host, to: datagram.address)
        }
        while let event = way.nextEvent() { station.routes.append((now, event)) }
        station.way = way
        stations[index] = station
        for record in sent { relay(record, from: index) }
        if station.isTalking, isDue { talk(index) }
    }

    private mutating func talk(_ index: UInt16) {
        guard var station = stations[index], let route = station.way?.mediaRoute else { return }
        station.lastMedia = now
        station.next += 1
        stations[index] = station
        let bytes = media(index, station.next)
        for address in route.addresses { network.send(bytes, from: station.host, to: address) }
        if route.usesRelay { forward(bytes, from: index, limited: station.limited) }
    }

    private mutating func deliver(_ datagram: SimulatedNetwork.Datagram) {
        guard let index = stations.first(where: { $0.value.host == datagram.destination })?.key else { return }
        if DirectProbe.begins(datagram.bytes.span) {
            stations[index]?.way?.receive(probe: datagram.bytes.span, from: datagram.source, at: now)
        } else if let sender = stations[index]?.way?.sender(at: datagram.source, at: now) {
            stations[index]?.way?.mediaReceived(from: sender, at: datagram.source, now)
            play(datagram.bytes, at: index, isDirect: true)
        }
    }

    /// Plays a packet unless the replay window has it, as that of SRTP does.
    private mutating func play(_ bytes: [UInt8], at index: UInt16, isDirect: Bool) {
        let sender = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        let number = UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 8 | UInt64(bytes[4])
        var window = stations[index]?.windows[sender] ?? ReplayWindow()
        guard window.accepts(number) else {
            stations[index]?.duplicateCount += 1
            return
        }
        window.insert(number)
        stations[index]?.windows[sender] = window
        stations[index]?.played[sender, default: []].append((number, now, isDirect))
        stations[index]?.way?.mediaActive(at: now)
    }

    private func media(_ index: UInt16, _ number: UInt64) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.mediaByteCount)
        bytes[0] = UInt8(index >> 8)
        bytes[1] = UInt8(truncatingIfNeeded: index)
        for place in 0..<3 { bytes[2 + place] = UInt8(truncatingIfNeeded: number >> UInt64(16 - 8 * place)) }
        return bytes
    }

    // MARK: - The relay

    private mutating func forward(_ bytes: [UInt8], from index: UInt16, limited: Set<UInt16>) {
        for (other, station) in stations where other != index && station.isPresent && !limited.contains(other) {
            records.append((now + SimulatedNetwork.latency * 2, other, bytes))
        }
    }

    private mutating func deliver(_ bytes: [UInt8], to index: UInt16) {
        guard stations[index]?.isPresent == true else { return }
        if bytes.count == Self.mediaByteCount { return play(bytes, at: index, isDirect: false) }
        if let candidates = try? SealedCandidates(parsing: bytes.span) {
            stations[index]?.candidates[candidates.index] = candidates
            stations[index]?.way?.receive(candidates, at: now)
        } else if let members = try? DirectMembers(parsing: bytes.span) {
            let keys = stations.mapValues { $0.identity.key }
            stations[index]?.way?.receive(members, at: now) { keys[$0] }
        }
    }

    mutating func relay(_ record: [UInt8], from index: UInt16) {
        if var candidates = try? SealedCandidates(parsing: record.span) {
            let receiver = candidates.index
            candidates.index = index
            records.append((now + SimulatedNetwork.latency * 2, receiver, candidates.bytes))
        } else if let limited = try? LimitedMedia(parsing: record.span) {
            stations[index]?.limited = Set(limited.indexes)
            let changed = stations[index]?.allowed != limited.allowsDirect
            stations[index]?.allowed = limited.allowsDirect
            tellMembers(to: changed ? nil : index)
        }
    }

    /// Sends DIRECT MEMBERS to one member, or to all.
    mutating func tellMembers(to index: UInt16? = nil) {
        let present = stations.filter(\.value.isPresent)
        let count = UInt32(present.count) + strangersPresent
        var views: [PeerAddress] = []
        var members: [DirectMembers.Member] = []
        for index in present.keys.sorted() where present[index]?.allowed == true && count <= 4 {
            guard let host = present[index]?.host else { continue }
            let view = network.view(of: host, from: Self.relay).network
            if !views.contains(view) { views.append(view) }
            members.append(.init(index: index, network: UInt8(views.firstIndex(of: view) ?? 0)))
        }
        let bytes = DirectMembers(presentCount: count, members: members).bytes
        for other in present.keys where index == nil || index == other {
            records.append((now + SimulatedNetwork.latency, other, bytes))
        }
    }

    // MARK: - Figures

    func route(_ index: UInt16, to other: UInt16) -> DirectRoute { stations[index]?.way?.route(to: other) ?? .relay }

    func isDirect(_ index: UInt16, to other: UInt16) -> Bool {
        if case .direct = route(index, to: other) { true } else { false }
    }

    /// The probes and echoes that the member has sent to a host.
    func probes(from index: UInt16, to host: PeerAddress? = nil) -> [(address: PeerAddress, probe: DirectProbe)] {
        network.sent.compactMap { datagram in
            guard datagram.source == stations[index]?.host, host.map({ $0.host == datagram.destination.host }) ?? true,
                let probe = try? DirectProbe(parsing: datagram.bytes.span)
            else { return nil }
            return (datagram.destination, probe)
        }
    }

    /// The longest pause between two packets that were played, beginning with the packet `first`.
    func longestPause(at index: UInt16, from sender: UInt16, since first: UInt64 = 0) -> Duration {
        let times = (stations[index]?.played[sender] ?? []).filter { $0.number > first }.map(\.at)
        return zip(times.dropFirst(), times).map { $0 - $1 }.max() ?? .zero
    }

    /// The numbers of packets that were sent and not played.
    func missing(at index: UInt16, from sender: UInt16) -> [UInt64] {
        let played = Set((stations[index]?.played[sender] ?? []).map(\.number))
        let last = stations[sender]?.next ?? 0
        // The latest packets are on their way.
        return last > 5 ? (1...(last - 5)).filter { !played.contains($0) } : []
    }
}
