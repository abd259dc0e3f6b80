import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// A member that leaves and joins again is heard.
struct RestartTests {
    private let relay = TinyRelay(Family.talk)

    @Test(arguments: RelayKind.allCases, [9, 10] as [UInt32])
    func aTalkerThatStartsAgainHearsAndIsHeardAtOnce(kind: RelayKind, ssrc: UInt32) {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let other = Member(1, Family.configuration(.talk), ssrc: 5, speech: Speech())
        let air = Airwaves([talker, other], kind.relay())
        air.run(seconds: 5)
        let restarted = air.now
        air.replace(
            0,
            by: Member(
                0, Family.configuration(.talk), ssrc: ssrc, firstSequenceNumber: 30_000,
                speech: Speech(beginning: restarted), at: restarted, seed: 77))
        air.run(seconds: 1)
        let heard = other.heard.first { $0.at > restarted + .milliseconds(20) }
        #expect(heard.map { $0.at - restarted < .milliseconds(300) } ?? false)
        #expect(air.members[0].heard.first.map { $0.at - restarted < .milliseconds(300) } ?? false)
        // One second of packets, less the time to join.
        #expect(other.heard.count { $0.at > restarted + .milliseconds(20) } >= 43)
    }

    @Test func aTalkerWhomNobodyAnswersFindsOut() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let air = Airwaves([talker], relay)
        air.run(seconds: 5)
        #expect(talker.events.count == 1)
        relay.forgetAll()
        air.run(seconds: 2)
        #expect(relay.sessions.count == 1)
        let joined = ChannelEvent.joined(.talk, seenAt: talker.endpoint)
        #expect(talker.eventsOnly == [joined, .lost, joined])
        #expect(!relay.announcements.isEmpty)
    }

    @Test func aRelayThatDiesRightAfterARecordIsMissedAsSoonAsAnyOther() throws {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 2)
        let place = try #require(relay.sessions.firstIndex { $0.role == .listen })
        // The last record needs no answer, and the restarted relay's unknown-session datagrams are lost.
        air.loses = { datagram, _ in datagram.starts(with: [99, 1, 7]) }
        let report = ReceiverReport(ssrc: SSRC(77))
        relay.report([UInt8](capacity: report.byteCount) { report.write(into: &$0) }, to: place)
        air.settleRelay()
        relay.forgetAll()
        let killed = air.now
        air.run(seconds: 2)
        #expect(listener.heard.contains { $0.at > killed + .milliseconds(50) })
    }

    /// A talker's pause causes no further renewals.
    @Test func aListenerAsksOnceWhenATalkerFallsSilent() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 50))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 1.3)
        let count = relay.renewalCount
        air.run(seconds: 5)
        // One renewal by the talker after its last packets, and one by the listener.
        #expect((1...2).contains(relay.renewalCount - count))
        #expect(listener.events.count == 1)
    }

    @Test func soundThatStillComesIsHeardWhileARelayDoesNotAnswer() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 1)
        // The listener's HELLOs and records do not reach the relay.
        air.loses = { datagram, member in member == 1 && datagram[0] == 99 && (datagram[2] == 1 || datagram[2] == 6) }
        air.run(seconds: 15)
        #expect(listener.heard.count > 15 * 50)
        #expect(listener.events.count == 1)
    }
}
