import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourRelayCluster
import TenfourRelayCore
import TestSupport
import Testing

/// One of the relays arbitrates for stations at all of them.
struct FloorClusterTests {
    private let family = ChannelKeys.drawn("family")
    private let cluster: SimulatedCluster
    /// A station at each relay.
    private let stations: [FloorStation]

    init() {
        cluster = SimulatedCluster(3, [family])
        cluster.run(.seconds(1))
        var stations: [FloorStation] = []
        for number in 0..<3 { stations.append(FloorStation(family, number, cluster)) }
        self.stations = stations
    }

    /// Runs the relays and the stations. A station that may send does so.
    private func run(_ duration: Duration) {
        let end = cluster.now + duration
        while cluster.now < end {
            cluster.run(.milliseconds(10))
            for station in stations { station.poll() }
        }
    }

    private func begin() {
        for station in stations { station.begin() }
        run(.seconds(3))
    }

    private var sending: [Int] { stations.filter(\.participant.maySend).map(\.number) }

    private func status(_ number: Int) -> FloorStatus? {
        cluster.node(number).room.relay.status.channels[0].floor
    }

    /// The relays that arbitrate.
    private var arbiters: [Int] {
        cluster.nodes.compactMap { $0?.number }.filter { status($0)?.arbiter == .thisRelay }
    }

    /// Makes the channel require the floor at all relays.
    private func requireFloor() {
        var configuration = RelayConfiguration([family])
        configuration.channels[0].floor = .init(isRequired: true)
        for case let node? in cluster.nodes {
            node.room.reload(configuration)
            node.cluster.reconfigure(for: &node.room.relay, at: cluster.now)
        }
    }

    @Test func oneTalksWhereverTheStationsAre() {
        begin()
        stations[1].press()
        run(.milliseconds(40))
        #expect(sending == [1])
        #expect(arbiters.count == 1)
        run(.milliseconds(200))
        #expect(stations[0].participant.talker == stations[1].ssrc)
        #expect(stations[2].participant.talker == stations[1].ssrc)
        stations[0].press()
        stations[2].press(waits: true)
        run(.milliseconds(40))
        #expect(sending == [1])
        #expect(stations[0].events.contains(.denied(.anotherTalks, talker: stations[1].ssrc, retryAfter: .zero)))
        #expect(stations[2].participant.state == .queued(position: 1, size: 1))
        stations[1].release()
        run(.milliseconds(40))
        #expect(sending == [2])
    }

    @Test func everyRelayKnowsWhoTalks() {
        begin()
        stations[2].press()
        run(.seconds(2))
        for number in 0..<3 { #expect(status(number)?.talker == stations[2].ssrc) }
        let others = (0..<3).filter { status($0)?.arbiter == .otherRelay }
        #expect(arbiters.count == 1 && others.count == 2)
        let packets = cluster.node(0).packets(stations[0].member.endpoint).count
        #expect(packets > 80, "media crosses as before")
    }

    @Test func inAChannelWhoseFloorNobodyRequestsAllTalk() {
        begin()
        for _ in 0..<50 {
            for station in stations { station.talk() }
            run(.milliseconds(20))
        }
        for number in 0..<3 { #expect(status(number) == nil) }
        for station in stations {
            #expect(station.participant.talker == nil)
            #expect(!station.events.contains { if case .taken = $0 { true } else { false } })
            #expect(cluster.node(station.number).packets(station.member.endpoint).count == 100)
        }
    }

    @Test func thePartsArbitrateApartAndOneTalksWhenTheyAreWholeAgain() {
        begin()
        stations[0].press()
        run(.milliseconds(500))
        #expect(sending == [0])
        cluster.partitions = [[0, 1], [0, 2]]
        run(.seconds(6))
        stations[0].press()
        stations[1].press()
        stations[2].press()
        run(.milliseconds(300))
        #expect(arbiters.count == 2)
        #expect(sending.count == 2 && sending[0] == 0, "one on each side: \(sending)")
        let before = stations.map(\.events.count)
        cluster.partitions = []
        run(.seconds(3))
        #expect(arbiters.count == 1)
        #expect(sending.count == 1, "\(sending)")
        let revoked = stations.filter { station in
            station.events[before[station.number]...].contains {
                if case .revoked = $0 { true } else { false }
            }
        }
        #expect(revoked.count == 1)
        for station in stations { station.release() }
        run(.seconds(1))
        #expect(sending == [])
        stations[0].press()
        run(.milliseconds(40))
        #expect(sending == [0])
    }

    @Test func theTalkerGoesOnWhenTheArbitersRelayIsGone() throws {
        begin()
        stations[0].press()
        run(.milliseconds(200))
        let arbiter = try #require(arbiters.first)
        stations[0].release()
        run(.milliseconds(200))
        let talker = (arbiter + 1) % 3
        stations[talker].press()
        run(.milliseconds(200))
        #expect(sending == [talker])
        cluster.kill(arbiter)
        stations[arbiter].isGone = true
        run(.milliseconds(700))
        #expect(sending == [], "nobody grants the floor")
        run(.seconds(4))
        #expect(sending == [talker])
        #expect(arbiters.count == 1)
    }

    @Test func theFloorOfAStationThatLeavesIsIdleForAll() {
        begin()
        stations[1].press()
        run(.milliseconds(500))
        #expect(sending == [1])
        stations[1].leave()
        run(.milliseconds(40))
        #expect(stations[0].participant.talker == nil && stations[2].participant.talker == nil)
        stations[2].press()
        // The relay that arbitrates may have been the one that is without members now.
        run(.seconds(3))
        #expect(sending == [2])
        #expect(status(1) == nil)
    }

    @Test func aRelayThatGetsMembersLaterFollowsAtOnce() throws {
        let alone = stations[2]
        for station in stations where station !== alone { station.leave() }
        run(.milliseconds(100))
        alone.begin()
        alone.press()
        run(.milliseconds(500))
        #expect(arbiters == [2] && sending == [2])
        for number in 0..<2 {
            stations[number].join()
            stations[number].begin()
            run(.milliseconds(30))
            #expect(stations[number].participant.otherEnd == .arbitrates)
        }
        run(.milliseconds(300))
        #expect(status(0)?.arbiter == .otherRelay && status(1)?.arbiter == .otherRelay)
        for number in 0..<2 { #expect(stations[number].participant.talker == alone.ssrc) }
        run(.seconds(2))
        #expect(arbiters == [2] && sending == [2], "a relay that works is not replaced")
        #expect(!alone.events.contains(.interrupted))
    }

    @Test func aChannelThatRequiresTheFloorDropsMediaAtEachRelay() throws {
        requireFloor()
        begin()
        stations[0].press()
        run(.milliseconds(200))
        let before = stations.map { cluster.node($0.number).room.relay.status.discards[.withoutFloor] }
        for station in stations[1...] { station.talk() }
        run(.milliseconds(50))
        for number in 1..<3 {
            #expect(cluster.node(number).room.relay.status.discards[.withoutFloor] == before[number] + 1)
            let offenders = try #require(status(number)).offenders.filter { !$0.isAtOtherRelay }
            #expect(offenders.map(\.counts.unpermittedPacketCount) == [1])
        }
        stations[0].release()
        run(.seconds(1))
        // One that knows the floor must request it even while it is idle.
        for station in stations[1...] { station.talk() }
        for number in 1..<3 {
            #expect(cluster.node(number).room.relay.status.discards[.withoutFloor] == before[number] + 2)
        }
    }

    @Test(arguments: [0, 1, 2]) func aStationThatKnowsNoFloorTalksWhileItIsHeard(number: Int) {
        requireFloor()
        for station in stations where station.number != number { station.begin() }
        run(.seconds(3))
        for _ in 0..<20 {
            stations[number].talk()
            run(.milliseconds(20))
        }
        let other = stations[(number + 1) % 3]
        #expect(other.participant.talker == stations[number].ssrc)
        other.press()
        run(.milliseconds(10))
        #expect(sending == [], "it counts as talking")
        run(.milliseconds(550))
        #expect(other.participant.talker == nil)
        other.press()
        run(.milliseconds(40))
        #expect(sending == [other.number])
        let before = cluster.node(number).room.relay.status.discards[.withoutFloor]
        stations[number].talk()
        #expect(cluster.node(number).room.relay.status.discards[.withoutFloor] == before + 1)
    }

    @Test func theSSRCOfATalkerOfAnotherRelayIsRefused() throws {
        begin()
        run(.milliseconds(100))
        stations[1].press(as: stations[0].ssrc)
        run(.seconds(1))
        #expect(sending == [])
        let offender = try #require(status(1)?.offenders.first { !$0.isAtOtherRelay })
        #expect(offender.counts.foreignSSRCCount == 1)
        #expect(stations[1].events.contains(.denied(.other, talker: nil, retryAfter: .zero)))
    }

    @Test func aTalkerThatChangesOverIsGrantedTheFloorAtItsNewRelay() throws {
        begin()
        stations[0].press()
        run(.seconds(1))
        #expect(sending == [0])
        // The path to relay 0 is cut, and relay 0 does not know it yet.
        stations[0].isGone = true
        let moved = SimulatedMember(family, .talk, at: .host(9))
        moved.ssrc = stations[0].ssrc
        moved.join(cluster.node(1).room)
        func isGranted() -> Bool {
            moved.say(
                .floor(.request(number: 9, moved.ssrc, .normal, waits: false, sends: true)), cluster.node(1).room)
            cluster.run(.milliseconds(20))
            return moved.records(cluster.node(1).room).records.contains {
                if case .floor(.granted(9, moved.ssrc, _, _, _, _)) = $0 { true } else { false }
            }
        }
        #expect(!isGranted(), "the talker is still heard at the other relay")
        // There it has vanished after 1.5 s.
        run(.milliseconds(1_600))
        #expect(isGranted())
    }

    @Test func messagesOnAWrongSubjectOrAboutAnUnknownChannelAreIgnored() throws {
        begin()
        stations[0].press()
        run(.milliseconds(200))
        let floors = cluster.log.filter { $0.message.bytes[1] == 8 }
        #expect(floors.count > 5)
        // Replayed.
        for (from, message) in floors.suffix(20) {
            let to = (from + 1) % 3
            let before = cluster.node(to).cluster.status.receivedCount
            cluster.inject(message, to: to)
            cluster.run(.zero)
            #expect(cluster.node(to).cluster.status.receivedCount == before)
        }
        #expect(sending == [0])
    }
}

/// A member of a channel that follows Protocol/10-floor.md.
private final class FloorStation {
    let number: Int
    let member: SimulatedMember
    private let cluster: SimulatedCluster
    private(set) var participant: FloorParticipant
    private(set) var events: [FloorEvent] = []
    var isGone = false
    private var nextPacket = Instant.start

    init(_ keys: ChannelKeys, _ number: Int, _ cluster: SimulatedCluster) {
        self.number = number
        self.cluster = cluster
        member = SimulatedMember(keys, .talk, at: .host(number + 1))
        participant = FloorParticipant(ssrc: member.ssrc)
        join()
    }

    var ssrc: SSRC { member.ssrc }
    private var room: RelayHarness { cluster.node(number).room }

    func join() {
        member.join(room)
        member.announce(room)
        isGone = false
    }

    func begin() {
        participant.begin(at: cluster.now)
        flush()
    }

    func press(waits: Bool = false, as ssrc: SSRC? = nil) {
        if let ssrc { participant.ssrc = ssrc }
        participant.press(waits: waits, at: cluster.now)
        flush()
    }

    func release() {
        participant.release(at: cluster.now)
        flush()
    }

    func leave() {
        member.say(.leave, room)
        isGone = true
        participant = FloorParticipant(ssrc: ssrc)
    }

    func talk() { member.talk(room) }

    func poll() {
        guard !isGone else { return }
        for case .floor(let message) in member.records(room).records {
            participant.receive(message, at: cluster.now)
        }
        participant.timeElapsed(at: cluster.now)
        flush()
        if participant.maySend, nextPacket <= cluster.now {
            nextPacket = cluster.now + .milliseconds(20)
            talk()
        }
    }

    private func flush() {
        while let message = participant.nextMessage() { if !isGone { member.say(.floor(message), room) } }
        while let event = participant.nextEvent() { events.append(event) }
    }
}
