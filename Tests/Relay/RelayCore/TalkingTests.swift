import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Who may talk, with which SSRC, and at which rate.
struct TalkingTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness
    private let talker: SimulatedMember
    private let second: SimulatedMember
    private let listener: SimulatedMember

    init() {
        room = RelayHarness([family, .drawn("other", seed: 8)], limits: .narrow)
        talker = SimulatedMember(family, .talk, at: .host(1))
        second = SimulatedMember(family, .talk, at: .host(2))
        listener = SimulatedMember(family, .listen, at: .host(3))
        _ = talker.join(room) && second.join(room) && listener.join(room)
        _ = room.takeEvents()
        room.inbox = [:]
    }

    @Test func onlyWhatWasAnnouncedIsForwarded() {
        #expect(talker.talk(room) == .discarded(.unannounced))
        talker.announce(room)
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        #expect(room.receive(talker.tagged(talker.packet(SSRC(77))), from: talker.endpoint) == .discarded(.unannounced))
    }

    @Test func theFirstClaimStandsAndTheSecondIsReported() {
        talker.announce(room)
        #expect(second.announce(room, talker.ssrc) == .discarded(.takenSSRC))
        #expect(second.records(room).records == [.ssrcRefused(talker.ssrc)])
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        #expect(second.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 1))
        talker.say(.leave, room)
        #expect(second.announce(room, talker.ssrc) == .forward(.announced, byteCount: 56, channel: 0, talker: 1))
    }

    @Test func inAnotherChannelItIsAnother() {
        let elsewhere = SimulatedMember(.drawn("other", seed: 8), .talk, at: .host(4))
        elsewhere.join(room)
        talker.announce(room)
        elsewhere.ssrc = talker.ssrc
        #expect(elsewhere.announce(room) == .forward(.announced, byteCount: 56, channel: 1, talker: 3))
        #expect(elsewhere.talk(room) == .forward(.media, byteCount: 100, channel: 1, talker: 3))
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        // For a new address, the hop tag tells which of the two talkers sends.
        #expect(
            room.receive(elsewhere.tagged(elsewhere.packet()), from: .host(9))
                == .forward(.media, byteCount: 100, channel: 1, talker: 3))
    }

    @Test func oneAtATime() {
        talker.announce(room)
        let old = talker.ssrc
        talker.talk(room)
        talker.ssrc = SSRC(old.rawValue ^ 1)
        #expect(talker.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 0))
        #expect(room.receive(talker.tagged(talker.packet(old)), from: talker.endpoint) == .discarded(.unannounced))
        #expect(second.announce(room, old) == .forward(.announced, byteCount: 56, channel: 0, talker: 1))
        // Listeners of the old SSRC receive a BYE for it.
        #expect(listener.goodbyes(room) == [old])
        var refusedCount = 0
        for number in 0..<40 {
            if talker.announce(room, SSRC(1_000 + UInt32(number))) == .discarded(.tooManyAnnouncements) {
                refusedCount += 1
            }
        }
        #expect(refusedCount > 30)
    }

    @Test func listenersLearnThatATalkerIsGone() {
        talker.announce(room)
        talker.talk(room)
        talker.say(.leave, room)
        #expect(listener.goodbyes(room) == [talker.ssrc])
        #expect(second.goodbyes(room) == [talker.ssrc])
        second.announce(room)
        second.report(room) {
            ReceiverReport(ssrc: second.ssrc).write(into: &$0)
            Goodbye(sources: [second.ssrc]).write(into: &$0)
        }
        #expect(listener.goodbyes(room) == [second.ssrc])
        talker.join(room)
        talker.announce(room)
        room.run(.seconds(20))
        listener.renew(room)
        _ = room.take(listener.endpoint)
        room.run(.seconds(10))
        #expect(listener.goodbyes(room) == [talker.ssrc])
    }

    @Test func aListenerIsNotHeard() {
        listener.ssrc = SSRC(5)
        #expect(listener.announce(room) == .discarded(.listenerMedia))
        #expect(listener.talk(room) == .discarded(.listenerMedia))
        #expect(room.receive(listener.tagged(listener.packet()), from: .host(50)) == .discarded(.strangerMedia))
    }

    @Test func aTalkerThatSendsTooMuchIsLimitedAndItsLossReported() throws {
        talker.announce(room)
        var forwardedCount = 0
        for step in 0..<5_000 {
            room.now = .start + .microseconds(400 * step)
            if case .forward = talker.talk(room) { forwardedCount += 1 }
        }
        // Two seconds at 100 packets a second, and a saved burst of two seconds.
        #expect((395...401).contains(forwardedCount))
        #expect(room.relay.status.discards[.tooManyPackets] == 5_000 - forwardedCount)
        let notice = Record.limited(packetsPerSecond: 100, bitsPerSecond: 128_000)
        #expect(talker.records(room).records == [notice])
        #expect(second.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 1))
        room.run(.seconds(1))
        let lost = talker.reports(room).flatMap { $0.blocks(about: talker.ssrc) }.map(\.fractionLost).max() ?? 0
        #expect(lost > 128)
        #expect(talker.say(.leave, room) == .handled)
    }

    @Test func aChannelMayLetItsTalkersSendMoreThanTheOthers() {
        let concert = ChannelKeys.drawn("concert", seed: 10)
        var configuration = RelayConfiguration([family, concert], limits: .narrow)
        configuration.channels[1].limits = ChannelLimits(talkerPacketsPerSecond: 400, talkerBitsPerSecond: 1_000_000)
        let room = RelayHarness(configuration)
        let members = [family, concert].enumerated().map { SimulatedMember($1, .talk, at: .host($0)) }
        var counts = [0, 0]
        for (index, member) in members.enumerated() {
            #expect(member.join(room))
            member.announce(room)
            // The concert's talker may send the packets of one second at once, and a saved burst of another.
            for _ in 0..<1_000 { if case .forward = member.talk(room) { counts[index] += 1 } }
        }
        #expect(counts[0] < 200 && (790...800).contains(counts[1]), "\(counts)")
    }

    @Test func bitsAreLimitedToo() {
        talker.announce(room)
        var byteCount = 0
        for step in 0..<200 {
            room.now = .start + .milliseconds(20 * step)
            let packet = talker.tagged(talker.packet(byteCount: 1_400))
            if case .forward = room.receive(packet, from: talker.endpoint) { byteCount += packet.count }
        }
        // Four seconds at 16 000 bytes a second, and a saved burst of two seconds.
        #expect((94_000...97_000).contains(byteCount))
        #expect(room.relay.status.discards[.tooManyBits] > 0)
        #expect(talker.records(room).records == [.limited(packetsPerSecond: 100, bitsPerSecond: 128_000)])
        let oversized = talker.tagged(talker.packet(byteCount: 1_501))
        #expect(room.receive(oversized, from: talker.endpoint) == .discarded(.malformedMedia))
    }

    @Test func aTalkspurtEndsAfterTenSecondsOfSilence() {
        talker.announce(room)
        talker.talk(room)
        #expect(room.takeEvents() == [.talking(member: 0, .host(1))])
        room.run(.milliseconds(9_999))
        #expect(room.relay.status.channels[0].talkerCount == 1)
        room.run(.milliseconds(1))
        #expect(room.takeEvents() == [.quiet(member: 0)])
        #expect(room.relay.status.channels[0].talkerCount == 0)
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        #expect(room.takeEvents() == [.talking(member: 0, .host(1))])
    }
}

extension RelayLimits {
    /// Limits slightly above the rate of speech in frames of 20 ms.
    static var narrow: RelayLimits {
        var limits = RelayLimits()
        limits.talkerPacketsPerSecond = 100
        limits.talkerBitsPerSecond = 128_000
        return limits
    }
}
