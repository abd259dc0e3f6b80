import TenfourAudioCore
import TenfourChannelKeys
import TenfourSeededRandom

@testable import TenfourManagedChannel

/// A managed channel on a simulated clock: the relay's store with its disk, the owner, which is also the signer, and
/// members. Records take 50 ms each way, and are sent as bytes.
struct SimulatedManagedChannel {
    struct Station {
        var index: UInt16
        var member: ManagedMember
        var disk: [UInt8]
        var isJoined = false
        var sentByteCount = 0
        var events: [ManagedMember.Event] = []
    }

    private enum Packet {
        case toRelay(from: UInt16, [UInt8])
        case toMember(UInt16, [UInt8])
    }

    let channelID: UInt128 = 77
    let root = MediaRoot(copying: [UInt8](repeating: 5, count: 32).span)
    let owner: MemberIdentity
    var relay: ManagedChannelStore
    var relayDisk: [UInt8]
    var relayIsUp = true
    var signer: GroupSecretSigner
    var roster: SignedRoster
    var stations: [UInt16: Station] = [:]
    var now = Instant.start
    /// The time of day in seconds since 1970.
    var clock: UInt64 { 1_795_000_000 + UInt64(now.nanoseconds / 1_000_000_000) }
    /// What an adversary on the path to the relay has recorded: each sealed secret that was deposited.
    var recorded: [(at: Instant, GroupSecretID, GroupSecretDeposit.Entry)] = []
    var goodbyes: [UInt16] = []
    /// Of the records on their way, the share that is lost.
    var loss = 0.0
    private var flying: [(at: Instant, Packet)] = []
    /// Stations that have had an input since their last turn, and when others are due.
    private var touched: Set<UInt16> = []
    private var due: [UInt16: Instant] = [:]
    private var randomness: SeededRandom

    /// Members with a higher index do not verify a new roster that others verify: that takes 20 ms each in a debug build.
    static let verifyingMemberCount: UInt16 = 50
    /// The bytes of UDP payload around a record's content.
    static let recordByteCount = 36
    private static let step: Duration = .milliseconds(50)

    /// Members that all have held the roster before.
    init(memberCount: Int, seed: UInt64) throws {
        var randomness = SeededRandom(seed: seed)
        let owner = MemberIdentity(using: &randomness)
        let identities = (0..<memberCount).map { _ in MemberIdentity(using: &randomness) }
        self.owner = owner
        self.randomness = randomness
        let entries =
            [RosterEntry(index: 0, role: .talk, added: 0, key: owner.key, name: MemberName("Owner"))]
            + identities.enumerated().map { number, identity in
                RosterEntry(
                    index: UInt16(number + 1), role: .talk, added: 0, key: identity.key,
                    name: MemberName("Member \(number)"))
            }
        roster = try SignedRoster(
            signing: RosterContents(version: 1, time: 0, hasTagLists: false, entries: entries), by: owner,
            channelID: channelID)
        let (roster, root, channelID) = (roster, root, channelID)
        relay = ManagedChannelStore(ownerKey: owner.key, channelID: channelID)
        relayDisk = relay.fileContent
        signer = GroupSecretSigner(owner, index: 0, roster: roster, mediaRoot: root)
        for (number, identity) in ([owner] + identities).enumerated() {
            var member = ManagedMember(
                identity, channelID: channelID, mediaRoot: root, ownerHash: owner.key.ownerHash)
            member.hold(roster)
            stations[UInt16(number)] = Station(index: UInt16(number), member: member, disk: member.fileContent.array)
        }
        join(0)
        for part in RosterDeposit.parts(of: roster, after: nil, hasSecret: false, mediaRoot: root) {
            relay.receive(.rosterDeposit(part), from: 0, at: now)
        }
        tickRelay()
        relay.joined(0, at: now)
    }

    mutating func join(_ index: UInt16) {
        let clock = clock
        touched.insert(index)
        stations[index]?.isJoined = true
        stations[index]?.member.joined(at: now, clock: clock, using: &randomness)
        if relayIsUp { relay.joined(index, at: now) }
        guard index == 0 else { return }
        let age = stations[0]?.member.secretAge(clock: clock)
        signer.joined(at: now, secretAge: age.map { .seconds($0) }, using: &randomness)
    }

    mutating func leave(_ index: UInt16) {
        touched.insert(index)
        stations[index]?.isJoined = false
        stations[index]?.member.left()
        relay.left(index)
        if index == 0 { signer.left() }
    }

    /// The relay ends, and starts again with what its disk has. Members join it anew later.
    mutating func stopRelay(isKilled: Bool) {
        if !isKilled { relayDisk = relay.fileContent }
        relayIsUp = false
        flying.removeAll()
        for index in stations.keys.sorted() where stations[index]?.isJoined ?? false { leave(index) }
    }

    mutating func startRelay() throws {
        relay = try ManagedChannelStore(parsingFile: relayDisk.span, ownerKey: owner.key, channelID: channelID)
        relayIsUp = true
    }

    /// The owner signs a roster without `index`, and deposits it with a new secret.
    mutating func remove(_ index: UInt16) throws {
        let contents = try RosterContents(
            version: roster.version + 1, time: UInt32(clock), hasTagLists: false,
            entries: roster.contents.entries.filter { $0.index != index })
        roster = try SignedRoster(signing: contents, by: owner, channelID: channelID, known: roster)
        signer.deposit(roster, at: now)
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while now < end { tick() }
    }

    /// Passes time in which nothing is due.
    mutating func sleep(for duration: Duration) {
        let end = now + duration
        while now < end {
            let deadlines =
                Array(due.values) + [relay.nextDeadline, signer.nextDeadline].compactMap(\.self)
            let next = flying.isEmpty ? deadlines.min() ?? end : now + Self.step
            now = max(min(next, end) - Self.step, now)
            tick()
        }
    }

    private mutating func tick() {
        now = now + Self.step
        let arrived = flying.filter { $0.at <= now }
        flying.removeAll { $0.at <= now }
        for (_, packet) in arrived { deliver(packet) }
        touched.formUnion(due.filter { $0.value <= now }.keys)
        for index in touched.sorted() { tickStation(index) }
        touched = []
        signer.poll(at: now, using: &randomness)
        while let record = signer.nextRecord(at: now) { send(record, from: 0) }
        while let event = signer.nextEvent() {
            if case .deposited(let secret) = event { drew(secret) }
        }
        tickRelay()
    }

    private mutating func drew(_ secret: GroupSecret) {
        let clock = clock
        touched.insert(0)
        stations[0]?.member.drew(secret, at: now, clock: clock)
    }

    private mutating func deliver(_ packet: Packet) {
        guard loss == 0 || Double.random(in: 0..<1, using: &randomness) >= loss else { return }
        switch packet {
        case .toRelay(let index, let content):
            guard relayIsUp, let record = try? MemberRecord(parsing: content.span) else { return }
            if case .deposit(let deposit) = record {
                for entry in deposit.entries { recorded.append((now, deposit.id, entry)) }
            }
            relay.receive(record, from: index, at: now)
        case .toMember(let index, let content):
            guard stations[index]?.isJoined ?? false, let record = try? RelayRecord(parsing: content.span) else {
                return
            }
            let clock = clock
            touched.insert(index)
            if index > Self.verifyingMemberCount, case .news(let news) = record, news.head == RosterHead(roster) {
                stations[index]?.member.hold(roster)
            }
            stations[index]?.member.receive(record, at: now, clock: clock, using: &randomness)
            guard index == 0 else { return }
            switch record {
            case .deposited(let deposited): signer.receive(deposited, at: now)
            case .prekeys(let list): signer.receive(list, at: now)
            default: break
            }
        }
    }

    private mutating func tickStation(_ index: UInt16) {
        guard var station = stations[index] else { return }
        let isDue = station.member.nextDeadline.map { $0 <= now } ?? false
        if isDue { station.member.poll(at: now, clock: clock, using: &randomness) }
        while let event = station.member.nextEvent() {
            if case .fileChanged = event { station.disk = station.member.fileContent.array }
            if case .removed = event { station.disk = [] }
            station.events.append(event)
        }
        while let record = station.member.nextRecord(at: now, receipt: 0) {
            station.sentByteCount += send(record, from: index)
        }
        stations[index] = station
        due[index] = station.member.nextDeadline
    }

    @discardableResult
    private mutating func send(_ record: MemberRecord, from index: UInt16) -> Int {
        let content = record.bytes
        flying.append((now + Self.step, .toRelay(from: index, content)))
        return content.count + Self.recordByteCount
    }

    private mutating func tickRelay() {
        guard relayIsUp else { return }
        if let due = relay.storeDue, due <= now {
            relayDisk = relay.fileContent
            relay.stored(true, at: now)
        }
        while let message = relay.nextMessage(at: now) {
            switch message {
            case .record(let record, let index):
                let content = record.bytes
                stations[index]?.sentByteCount += content.count + Self.recordByteCount
                flying.append((now + Self.step, .toMember(index, content)))
            case .goodbye(let index):
                goodbyes.append(index)
                touched.insert(index)
                stations[index]?.isJoined = false
                stations[index]?.member.notAdmitted()
            }
        }
    }
}
