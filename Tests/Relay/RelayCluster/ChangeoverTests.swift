import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// A relay of the cluster ends, and its members move to another relay.
struct ChangeoverTests {
    let family = ChannelKeys.drawn("family")
    let cluster: SimulatedCluster
    let anna: TellingMember
    let ben: TellingMember
    let cleo: TellingMember

    init() {
        cluster = SimulatedCluster(3, [family])
        anna = TellingMember("Anna", family, .talk, at: .host(1))
        ben = TellingMember("Ben", family, .talk, at: .host(2))
        cleo = TellingMember("Cleo", family, .listen, at: .host(3))
        cluster.run(.seconds(1))
        anna.enter(cluster.node(0).room)
        ben.enter(cluster.node(1).room)
        cleo.enter(cluster.node(2).room)
        cluster.run(.seconds(2))
        anna.member.announce(cluster.node(0).room)
        anna.member.talk(cluster.node(0).room)
        cluster.run(.milliseconds(20))
        ben.take(cluster.node(1).room)
        cleo.take(cluster.node(2).room)
    }

    @Test func theRosterListsTheMembersOfAllRelays() {
        #expect(ben.names == ["Anna", "Ben"])
        #expect(cleo.names == ["Anna", "Ben"])
        #expect(ben.otherCount == 1)
        #expect(cleo.otherCount == 1)
    }

    @Test func aTalkerThatChangesOverKeepsItsSSRCAndNobodyHearsABye() {
        cluster.kill(0)
        cluster.run(.milliseconds(1_200))
        // The packets at the new relay continue those at the old one.
        anna.enter(cluster.node(1).room)
        #expect(anna.member.announce(cluster.node(1).room) == .forwarded(.announced, channel: 0, by: anna.member))
        for _ in 0..<50 {
            anna.member.talk(cluster.node(1).room)
            cluster.run(.milliseconds(200))
        }
        #expect(cluster.node(2).packets(cleo.member.endpoint).count == 51)
        #expect(Set(cluster.node(2).packets(cleo.member.endpoint)).count == 51)
        #expect(ben.member.goodbyes(cluster.node(1).room).isEmpty)
        #expect(cleo.member.goodbyes(cluster.node(2).room).isEmpty)
    }

    /// A relay that was slow hears LEAVE when the stream has long come from another relay.
    @Test func aTalkerThatLeavesALivingRelayIsHeardWithoutABye() {
        let dora = TellingMember("Dora", family, .listen, at: .host(4))
        dora.enter(cluster.node(0).room)
        let leave = anna.member.sealed(.leave)
        anna.enter(cluster.node(1).room)
        anna.member.announce(cluster.node(1).room)
        for _ in 0..<50 {
            anna.member.talk(cluster.node(1).room)
            cluster.run(.milliseconds(20))
        }
        #expect(cluster.node(0).room.receive(leave, from: anna.member.endpoint) == .handled)
        for _ in 0..<50 {
            anna.member.talk(cluster.node(1).room)
            cluster.run(.milliseconds(200))
        }
        #expect(cluster.node(0).packets(dora.member.endpoint).count == 100)
        #expect(cluster.node(2).packets(cleo.member.endpoint).count == 101)
        #expect(dora.member.goodbyes(cluster.node(0).room).isEmpty)
        #expect(ben.member.goodbyes(cluster.node(1).room).isEmpty)
        #expect(cleo.member.goodbyes(cluster.node(2).room).isEmpty)
    }

    /// A relay that stood still finds what its talker has sent before it changed over.
    @Test func whatHasWaitedAtARelayTakesNoStreamBack() {
        let waiting = anna.member.tagged(anna.member.announcement())
        let leave = anna.member.sealed(.leave)
        anna.member.talk(cluster.node(0).room)
        anna.enter(cluster.node(1).room)
        anna.member.announce(cluster.node(1).room)
        cluster.run(.milliseconds(100))
        #expect(cluster.node(0).room.receive(waiting, from: anna.member.endpoint) == .discarded(.takenSSRC))
        cluster.node(0).room.receive(leave, from: anna.member.endpoint)
        cluster.run(.milliseconds(100))
        let before = cluster.node(2).packets(cleo.member.endpoint).count
        for _ in 0..<50 {
            anna.member.talk(cluster.node(1).room)
            cluster.run(.milliseconds(20))
        }
        #expect(cluster.node(2).packets(cleo.member.endpoint).count == before + 50)
        #expect(cleo.member.goodbyes(cluster.node(2).room).isEmpty)
    }

    @Test func aTalkerWhoseRelayIsGoneIsReleasedAfterFiveSeconds() {
        cluster.kill(0)
        cluster.run(.seconds(6))
        #expect(cleo.member.goodbyes(cluster.node(2).room).isEmpty)
        cluster.run(.seconds(1))
        #expect(cleo.member.goodbyes(cluster.node(2).room) == [anna.member.ssrc])
    }

    @Test func whoDoesNotComeBackLeavesTheRosterAfterALease() {
        cluster.kill(0)
        cluster.run(.seconds(3))
        cleo.take(cluster.node(2).room)
        #expect(cleo.names == ["Anna", "Ben"])
        for _ in 0..<3 {
            cleo.member.renew(cluster.node(2).room)
            cluster.run(.seconds(10))
        }
        cleo.take(cluster.node(2).room)
        #expect(!cleo.names.contains("Anna"))
    }

    @Test func whoChangesOverIsListedOnce() {
        cluster.kill(0)
        cluster.run(.milliseconds(1_200))
        anna.enter(cluster.node(1).room)
        cluster.run(.seconds(3))
        cleo.take(cluster.node(2).room)
        #expect(cleo.entries.count == 2)
        #expect(cleo.otherCount == 1)
    }

    @Test func aRelayThatWasCutOffIsPresentAgainSoonAfterwards() {
        cluster.partitions = [[0, 1], [0, 2]]
        cluster.run(.seconds(3))
        #expect(cluster.node(0).cluster.status.relayCount == 0)
        #expect(cluster.node(1).cluster.status.relayCount == 1)
        cluster.partitions = []
        cluster.run(.milliseconds(700))
        for number in 0..<3 { #expect(cluster.node(number).cluster.status.relayCount == 2) }
        let before = cluster.node(2).packets(cleo.member.endpoint).count
        anna.member.talk(cluster.node(0).room)
        cluster.run(.milliseconds(20))
        #expect(cluster.node(2).packets(cleo.member.endpoint).count == before + 1)
    }

    @Test func aRelayThatStopsSaysSo() {
        cluster.node(0).cluster.leave(at: cluster.now)
        cluster.node(0).settle()
        cluster.run(.milliseconds(10))
        #expect(cluster.node(1).cluster.status.relayCount == 1)
        #expect(cluster.node(1).cluster.status.silencedCount == 0)
    }
}

extension Relay.Reception {
    static func forwarded(_ content: Relay.Forwarded, channel: ChannelIndex, by member: SimulatedMember) -> Self {
        .forward(content, byteCount: 56, channel: channel, talker: member.number!)
    }
}
