import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// A relay with one channel that has an owner, the owner's station, which is also the signer, and its members, on a
/// simulated clock. Everything that they send arrives within 50 ms.
final class ManagedStations {
    struct Station {
        let member: SimulatedMember
        var state: ManagedMember
        var isJoined = false
        /// The bytes of UDP payload of the records 15 to 22 to and from this station.
        var byteCount = 0
        /// The moment of the next RENEWAL.
        var renewal = Instant.start
        /// Nothing is due before this moment.
        var due = Instant.start
    }

    let family: ManagedFamily
    var room: RelayHarness
    private(set) var roster: SignedRoster
    private(set) var stations: [UInt16: Station] = [:]
    private var signer: GroupSecretSigner
    private var randomness = SeededRandom(seed: 3)
    /// The most memory that the relay has used for the channel.
    private(set) var highestByteCount = 0

    /// Members with a higher index do not verify a new roster that others verify: that takes 20 ms each in a debug build.
    private static let verifyingMemberCount: UInt16 = 10
    private static let step: Duration = .milliseconds(50)

    /// Deposits the first roster. Nobody but the owner has joined.
    init(memberCount: Int) {
        family = ManagedFamily(memberCount: memberCount)
        room = RelayHarness(family.configuration)
        roster = family.roster(1)
        signer = GroupSecretSigner(family.owner, index: 0, roster: roster, mediaRoot: family.keys.mediaRoot)
        for index in 0...UInt16(memberCount) {
            var state = ManagedMember(
                family.identity(index), channelID: family.channelID, mediaRoot: family.keys.mediaRoot,
                ownerHash: family.owner.key.ownerHash)
            state.hold(roster)
            stations[index] = Station(member: family.member(index), state: state)
        }
        guard let owner = stations[0]?.member, owner.join(room) else { preconditionFailure("the owner was not let in") }
        for record in family.deposit(of: roster) { owner.say(record, room) }
        owner.endpoint = .host(1)
        joined(0)
    }

    var now: Instant { room.now }
    private var clock: UInt64 { 1_795_000_000 + UInt64(now.nanoseconds / 1_000_000_000) }

    /// Returns whether the station was let in.
    @discardableResult
    func join(_ index: UInt16) -> Bool {
        guard let member = stations[index]?.member else { return false }
        switch member.knock(room) {
        case .welcome: break
        case .refusal(.notAdmitted):
            stations[index]?.state.notAdmitted()
            return false
        default: return false
        }
        member.renew(room)
        joined(index)
        return true
    }

    private func joined(_ index: UInt16) {
        let clock = clock
        stations[index]?.isJoined = true
        stations[index]?.renewal = now + .seconds(10)
        stations[index]?.due = now
        stations[index]?.state.joined(at: now, clock: clock, using: &randomness)
        guard index == 0 else { return }
        let age = stations[0]?.state.secretAge(clock: clock)
        signer.joined(at: now, secretAge: age.map { .seconds($0) }, using: &randomness)
    }

    /// The station ends without a word.
    func leave(_ index: UInt16) {
        stations[index]?.isJoined = false
        stations[index]?.state.left()
        if index == 0 { signer.left() }
    }

    func remove(_ index: UInt16) {
        roster = family.roster(2, without: [index], after: roster)
        signer.deposit(roster, at: now)
    }

    /// The relay is killed, and starts anew with what its disk has. Members join it later.
    func restartRelay() {
        for index in stations.keys where stations[index]?.isJoined ?? false { leave(index) }
        let files = room.files
        let file = files["family"] ?? []
        let store = try? ManagedChannelStore(
            parsingFile: file.span, ownerKey: family.owner.key, channelID: family.channelID)
        room = RelayHarness(family.configuration, stores: store.map { ["family": $0] } ?? [:], seed: 2, at: now)
        room.files = files
    }

    func forgetCosts() { for index in stations.keys { stations[index]?.byteCount = 0 } }

    func run(for duration: Duration) {
        let end = now + duration
        while now < end {
            room.run(Self.step)
            for index in 0..<UInt16(stations.count) {
                guard let station = stations[index], station.isJoined else { continue }
                if station.due <= now || room.inbox[station.member.endpoint] != nil { turn(of: index) }
            }
            signer.poll(at: now, using: &randomness)
            while let record = signer.nextRecord(at: now) { say(record, from: 0) }
            while let event = signer.nextEvent() {
                guard case .deposited(let secret) = event else { continue }
                stations[0]?.state.drew(secret, at: now, clock: clock)
                stations[0]?.due = now
            }
            highestByteCount = max(highestByteCount, room.relay.managedByteCount(of: 0))
        }
    }

    private func turn(of index: UInt16) {
        guard let station = stations[index] else { return }
        if station.renewal <= now {
            stations[index]?.renewal = now + .seconds(10)
            station.member.renew(room)
        }
        let came = station.member.managedRecords(room)
        stations[index]?.byteCount += came.byteCount
        for record in came.records { receive(record, at: index) }
        if came.goodbyes.contains(.notAdmitted) {
            stations[index]?.state.notAdmitted()
            stations[index]?.isJoined = false
        }
        let clock = clock
        stations[index]?.state.poll(at: now, clock: clock, using: &randomness)
        while stations[index]?.state.nextEvent() != nil {}
        while let record = stations[index]?.state.nextRecord(at: now, receipt: station.member.receipt) {
            say(record, from: index)
        }
        if let next = stations[index] {
            stations[index]?.due = min(next.renewal, next.state.nextDeadline ?? next.renewal)
        }
    }

    private func receive(_ record: RelayRecord, at index: UInt16) {
        if index > Self.verifyingMemberCount, case .news(let news) = record, news.head == RosterHead(roster) {
            stations[index]?.state.hold(roster)
        }
        let clock = clock
        stations[index]?.state.receive(record, at: now, clock: clock, using: &randomness)
        guard index == 0 else { return }
        switch record {
        case .deposited(let deposited): signer.receive(deposited, at: now)
        case .prekeys(let list): signer.receive(list, at: now)
        default: break
        }
    }

    private func say(_ record: MemberRecord, from index: UInt16) {
        guard let station = stations[index], station.isJoined else { return }
        station.member.say(record, room)
        stations[index]?.byteCount += record.bytes.count + 36
    }

    /// The stations that hold the newest group secret.
    var holders: Set<UInt16> {
        guard let newest = stations[0]?.state.secret else { return [] }
        return Set(stations.filter { $0.value.state.secret == newest }.keys)
    }
}
