import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourRelayCore
import TestSupport
import Testing

/// A member counts the packets that its relay refuses, and says why.
struct RelayRefusalTests {
    private func refusals(_ member: Member) -> [MediaRefusal] {
        member.eventsOnly.compactMap { if case .mediaRefused(let reason, _) = $0 { reason } else { nil } }
    }

    @Test func eachReasonIsReportedOnceAndAllPacketsAreCounted() {
        var limits = RelayLimits()
        limits.talkerPacketsPerSecond = 20
        let relay = RealRelay(limits: limits)
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 500))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 20)
        let refused = relay.status.discards[.tooManyPackets]
        #expect(refusals(talker) == [.talkerRate] && refusals(listener).isEmpty)
        #expect(refused > 100 && talker.channel.refusedByRelay[.talkerRate] == UInt32(refused))
        #expect(talker.channel.refusedByRelay.total == refused && listener.channel.refusedByRelay.total == 0)
    }

    /// The counts of sessions add up. Those of a late record change nothing.
    @Test func theCountsOfSessionsAddUp() {
        var limits = RelayLimits()
        limits.talkerPacketsPerSecond = 20
        let first = RealRelay(limits: limits)
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 1_000))
        let air = Airwaves([talker], first)
        air.run(seconds: 10)
        let count = talker.channel.refusedByRelay.total
        #expect(count > 50)
        let second = RealRelay(now: air.now, limits: limits, seed: 2)
        air.replace(relay: second)
        air.run(seconds: 30)
        #expect(talker.isJoined && second.status.discards[.tooManyPackets] > 50)
        #expect(talker.channel.refusedByRelay.total == count + second.status.discards[.tooManyPackets])
        #expect(refusals(talker) == [.talkerRate])
    }

    @Test(arguments: RelayKind.allCases) func aTalkerWithinTheLimitsHearsOfNothing(with kind: RelayKind) {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let air = Airwaves([talker], kind.relay())
        air.run(seconds: 10)
        #expect(talker.isJoined && refusals(talker).isEmpty && talker.channel.refusedByRelay.total == 0)
    }

    /// A record of a type that only a later version knows is ignored, and no sign of another key.
    @Test func aRecordOfALaterVersionIsIgnored() throws {
        let relay = TinyRelay(Family.talk)
        let talker = Member(0, Family.configuration(.talk), ssrc: 9)
        let air = Airwaves([talker], relay)
        air.run(seconds: 1)
        var sealer = try #require(relay.sessions.first).sealer
        let inside: [UInt8] = [201, 1, 2, 3]
        let datagram = [UInt8](capacity: 100) { sealer.seal(inside: inside.span, into: &$0) }
        #expect(air.inject(datagram, to: 0) == .discarded(.unexpected))
        #expect(talker.isJoined && talker.eventsOnly.count == 1)
    }
}
