import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Three relays and a member at two of them.
struct ClusterTests {
    let family = ChannelKeys.drawn("family")
    let cluster: SimulatedCluster
    let anna: SimulatedMember
    let ben: SimulatedMember

    init() { (cluster, anna, ben) = SimulatedCluster.withTwoMembers(relays: 3, of: family) }

    private var room: RelayHarness { cluster.node(0).room }
    private var other: RelayHarness { cluster.node(1).room }

    @Test func threeRelaysAreEachPresentForTheOthers() {
        for number in 0..<3 {
            let status = cluster.node(number).cluster.status
            #expect(status.relayCount == 2)
            // A message takes 200 to 400 µs.
            #expect(status.roundTrip.map { .microseconds(400)...(.microseconds(800)) ~= $0 } ?? false)
        }
    }

    @Test func aReloadLosesNoStateAndNoSubscription() {
        anna.announce(room)
        room.reload(RelayConfiguration([family]))
        cluster.node(0).cluster.reconfigure(for: &room.relay, at: cluster.now)
        #expect(cluster.node(0).cluster.nextSubscription() == nil)
        anna.talk(room)
        cluster.run(.milliseconds(50))
        #expect(cluster.node(1).packets(ben.endpoint).count == 1)
        let before = cluster.log.count
        cluster.run(.seconds(3))
        #expect(cluster.kinds(of: 0, since: before)[2] ?? 0 > 0)
    }

    @Test func aRemovedChannelIsLeft() {
        room.reload(RelayConfiguration([ChannelKeys]()))
        cluster.node(0).cluster.reconfigure(for: &room.relay, at: cluster.now)
        cluster.run(.milliseconds(200))
        #expect(cluster.node(0).subjects.count == 2)
        ben.announce(other)
        let before = cluster.log.count
        ben.talk(other)
        cluster.run(.milliseconds(20))
        #expect(cluster.kinds(of: 1, since: before)[3] == nil)
    }

    @Test func aPacketCrossesOnceForEachRelayWithMembersAndNobodyHearsItTwice() {
        anna.announce(room)
        let before = cluster.log.count
        let sent = (0..<50).map { _ in
            let packet = anna.packet()
            room.receive(anna.tagged(packet), from: anna.endpoint)
            cluster.run(.milliseconds(20))
            return packet
        }
        #expect(cluster.node(1).packets(ben.endpoint) == sent)
        // … and the announcement.
        #expect(cluster.kinds(of: 0, since: before)[3] == 51)
        // The relays that have received the packets have published none of them.
        #expect(cluster.kinds(of: 1, since: before)[3] == nil)
        #expect(!cluster.node(2).subjects.contains { $0.contains(".channel.") })
    }

    @Test func nothingIsPublishedWhileNoOtherRelayHasMembers() {
        ben.say(.leave, other)
        cluster.run(.milliseconds(200))
        let before = cluster.log.count
        anna.announce(room)
        anna.talk(room)
        cluster.run(.milliseconds(20))
        #expect(cluster.kinds(of: 0, since: before)[3] == nil)
    }

    @Test func aMemberThatComesLaterHearsAnnouncementAndPackets() {
        anna.announce(room)
        anna.talk(room)
        cluster.run(.milliseconds(20))
        let cleo = SimulatedMember(family, .listen, at: .host(3))
        cleo.join(cluster.node(2).room)
        cluster.run(.milliseconds(100))
        let dora = SimulatedMember(family, .listen, at: .host(4))
        dora.join(cluster.node(2).room)
        #expect(dora.records(cluster.node(2).room).others.count == 1)
        #expect(cluster.node(2).room.relay.status.channels[0].remoteMemberCount == 2)
        let packet = anna.packet()
        room.receive(anna.tagged(packet), from: anna.endpoint)
        cluster.run(.milliseconds(20))
        #expect(cluster.node(2).packets(cleo.endpoint) == [packet])
        #expect(cluster.node(2).packets(dora.endpoint) == [packet])
    }

    @Test func aPacketThatNATSHasLostIsAskedForOnceAndComes() {
        anna.announce(room)
        anna.talk(room)
        cluster.run(.milliseconds(20))
        cluster.partitions = [[0, 1]]
        let lost = anna.packet()
        room.receive(anna.tagged(lost), from: anna.endpoint)
        cluster.run(.milliseconds(5))
        cluster.partitions = []
        let before = cluster.log.count
        anna.talk(room)
        cluster.run(.milliseconds(30))
        #expect(cluster.node(1).packets(ben.endpoint).count == 3)
        #expect(cluster.node(1).packets(ben.endpoint).last == lost)
        #expect(cluster.kinds(of: 1, since: before)[4] == 1)
        #expect(cluster.kinds(of: 0, since: before)[5] == 1)
        #expect(cluster.node(0).cluster.status.retransmittedCount == 1)
    }

    @Test func aMemberThatMissesAPacketOfAnotherRelayIsAnsweredByItsOwn() {
        anna.announce(room)
        for _ in 0..<20 { anna.talk(room) }
        let packet = anna.packet()
        room.receive(anna.tagged(packet), from: anna.endpoint)
        cluster.run(.milliseconds(20))
        _ = other.take(ben.endpoint)
        ben.report(other) {
            GenericNACK(sender: ben.ssrc, media: anna.ssrc, sequenceNumbers: [sequenceNumber(of: packet)])
                .write(into: &$0)
        }
        #expect(ben.records(other).others == [packet])
    }

    @Test func reportsOfListenersElsewhereReachTheTalker() {
        anna.announce(room)
        for _ in 0..<100 {
            anna.talk(room)
            cluster.run(.milliseconds(20))
            ben.report(other) {
                let block = ReportBlock(
                    ssrc: anna.ssrc, fractionLost: 64, cumulativeLost: 1, extendedHighestSequenceNumber: 1,
                    jitter: FrameCount(0),
                    lastSenderReport: nil, delaySinceLastSenderReport: .zero)
                ReceiverReport(ssrc: ben.ssrc, blocks: [block]).write(into: &$0)
            }
        }
        let blocks = anna.reports(room).flatMap { $0.blocks(about: anna.ssrc) }
        #expect(blocks.contains { $0.fractionLost == 64 })
    }

    @Test func whoLeavesIsTakenLeaveOfEverywhere() {
        anna.announce(room)
        anna.talk(room)
        cluster.run(.milliseconds(20))
        _ = other.take(ben.endpoint)
        anna.say(.leave, room)
        cluster.run(.milliseconds(100))
        #expect(ben.goodbyes(other) == [anna.ssrc])
    }

    @Test func aClaimThatAnotherRelayHasIsRefused() {
        anna.announce(room)
        cluster.run(.milliseconds(100))
        // Another epoch is another talker.
        let epoch = Epoch(rawValue: 2 << 80)
        #expect(ben.announce(other, anna.ssrc, epoch: epoch) == .discarded(.takenSSRC))
        #expect(ben.records(other).records.contains(.ssrcRefused(anna.ssrc)))
    }

    @Test func ofTwoClaimsAtTheSameTimeTheEarlierIsGoodEverywhere() {
        anna.announce(room)
        cluster.run(.microseconds(100))
        ben.announce(other, anna.ssrc, epoch: Epoch(rawValue: 2 << 80))
        cluster.run(.milliseconds(200))
        let winner = anna.talk(room)
        let loser = other.receive(ben.tagged(ben.packet(anna.ssrc)), from: ben.endpoint)
        let isGood = [winner, loser].map { if case .forward = $0 { true } else { false } }
        #expect(isGood == [true, false] || isGood == [false, true])
        let refused = ben.records(other).records + anna.records(room).records
        #expect(refused.filter { $0 == .ssrcRefused(anna.ssrc) }.count == 1)
    }
}

func sequenceNumber(of packet: [UInt8]) -> SequenceNumber {
    SequenceNumber(rawValue: UInt16(packet[2]) << 8 | UInt16(packet[3]))
}

extension SimulatedMember {
    @discardableResult
    func announce(_ room: RelayHarness, _ ssrc: SSRC, epoch: Epoch) -> Relay.Reception {
        let announcement = Announcement(
            suite: SRTPSuite.allCases.first!, ssrc: ssrc, epoch: epoch,
            index: PacketIndex(rolloverCounter: 0, sequenceNumber), at: RelayHarness.clock, under: keys.mediaRoot)
        return room.receive(
            tagged([UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }), from: endpoint)
    }
}
