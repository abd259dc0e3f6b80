import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Two stations with the same SSRC.
struct CollisionTests {
    private let relay = TinyRelay(Family.talk)

    @Test(arguments: RelayKind.allCases)
    func theNewcomerOfTwoTalkersTakesAnotherNumberAndBothAreHeard(kind: RelayKind) {
        let first = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(), seed: 1)
        let second = Member(1, Family.configuration(.talk), ssrc: 9, seed: 2)
        let listener = Member(2, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([first, second, listener], kind.relay())
        air.run(seconds: 3)
        second.speech = Speech(beginning: air.now)
        air.run(seconds: 3)
        #expect(first.rtpSession.ssrc == SSRC(9) && first.events.count == 1)
        #expect(second.rtpSession.ssrc != SSRC(9))
        #expect(second.eventsOnly.count { $0 == .ssrcIsTaken } == 1)
        let other = second.rtpSession.ssrc.rawValue
        let numbers = listener.heard(from: 9).map(\.number)
        let isWhole = numbers == Array(numbers[0]...298)
        #expect(isWhole)
        #expect(listener.heard(from: other).count > 140)
        #expect(first.heard(from: other).count > 140 && second.heard(from: 9).count > 140)
    }

    /// The relay reports the collision if the other talker's announcement has not been received.
    @Test func aTalkerWhoseNumberTheRelayRefusesTakesAnother() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let air = Airwaves([talker], relay)
        air.run(seconds: 1)
        for _ in 0..<3 { relay.say(.ssrcRefused(SSRC(9))) }
        relay.say(.ssrcRefused(SSRC(8)))
        air.settleRelay()
        air.run(seconds: 1)
        #expect(talker.eventsOnly.count { $0 == .ssrcIsTaken } == 1)
        #expect(talker.rtpSession.ssrc != SSRC(9))
        #expect(relay.announcements.last?.ssrc == talker.rtpSession.ssrc)
        #expect(Set(relay.announcements.map(\.epoch)).count == 2)
    }

    @Test func aListenerWithATalkersNumberHearsIt() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 9, seed: 4)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 3)
        #expect(listener.eventsOnly.last == .ssrcIsTaken)
        #expect(listener.heard(from: 9).count > 140)
    }
}
