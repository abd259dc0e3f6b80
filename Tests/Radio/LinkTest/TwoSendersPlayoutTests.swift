import TenfourAudioCore
import TenfourCallQuality
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import Testing

/// Two senders at different addresses have the same SSRC (RFC 3550 section 8.2): the first one is played while it sends,
/// and then the second one.
struct TwoSendersPlayoutTests {
    /// The second sender has other numbers, or is another instance of the same program and has begun with the same ones.
    @Test(arguments: 0..<12 as Range<UInt64>, [false, true])
    func theFirstIsPlayedWithoutAGapAndThenTheSecond(seed: UInt64, hasSameNumbers: Bool) throws {
        var chance = SeededRandom(seed: seed)
        let first = SentTone()
        var second = SentTone(sender: Endpoint(.v4(0xC000_0201), port: 40_002), frequency: 880)
        if !hasSameNumbers {
            second.firstSequenceNumber = UInt16.random(in: .min ... .max, using: &chance)
            second.firstTimestamp = UInt32.random(in: .min ... .max, using: &chance)
        }
        let count = Int.random(in: 200...350, using: &chance)
        let begin = Duration.milliseconds(Int.random(in: 600...2_500, using: &chance))
        let end = Duration.milliseconds(20 * count + Int.random(in: 1_500...3_000, using: &chance))
        let secondCount = Int((end - begin) / .milliseconds(20))
        let packets =
            try first.packets(count, at: { .milliseconds(20 * $0) })
            + second.packets(secondCount, at: { begin + .milliseconds(20 * $0) })
        var receiver = try SimulatedReceiver(of: SSRC(9))
        let heard = HeardTone(packets, through: &receiver)
        #expect(
            receiver.senderMistakes == [.sourcesCollide(SSRC(9), kept: first.sender, other: second.sender)],
            "\(receiver.senderMistakes)")
        #expect(heard.longestGap(inFirst: Double(count) * 0.02) == 0)
        // The second one is heard from half a second after the end of the first.
        let expected = end / .seconds(1) - 0.5
        #expect((expected - 0.1...expected + 0.45).contains(heard.seconds), "\(heard.seconds) s of \(expected)")
        let whole = receiver.report().whole
        #expect(whole.lost == 0 && whole.playout.resyncs == 0 && whole.playout.dropped == .zero)
        #expect((whole.delays.maximum ?? .zero) <= .milliseconds(60), "\(String(describing: whole.delays.maximum))")
        #expect(whole.playout.concealed <= FrameCount(960))
        let playable = count + Int((expected - Double(count) * 0.02) * 50)
        #expect(abs(whole.expected - playable) <= 3, "\(whole.expected) of \(playable)")
        #expect(abs(whole.playout.decoded.rawValue - playable * 960) <= 3 * 960)
    }

    /// The address of a source changes in a pause, as behind a NAT, and its numbers go on.
    @Test(arguments: 0..<12 as Range<UInt64>) func aSourceThatMovesGoesOn(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        let count = Int.random(in: 60...200, using: &chance)
        let pause = Int.random(in: 30...400, using: &chance)
        // A pause of the talker, whose timestamps may stand still, or an outage of the network.
        let isOutage = seed % 3 == 0
        let standsStill = seed % 3 == 1
        let tone = SentTone()
        var packets = try tone.packets(
            count + 200 + (isOutage ? pause : 0),
            at: { .milliseconds(20 * ($0 + (!isOutage && $0 >= count ? pause : 0))) },
            jump: { !isOutage && !standsStill && $0 >= count ? UInt32(160 * pause) : 0 })
        for index in packets.indices where index >= count { packets[index].sender.port = 50_000 }
        if isOutage { packets.removeSubrange(count..<count + pause) }
        var receiver = try SimulatedReceiver(of: SSRC(9))
        let heard = HeardTone(packets, through: &receiver)
        #expect(receiver.senderMistakes.isEmpty)
        let whole = receiver.report().whole
        #expect(whole.lost == (isOutage ? pause : 0) && whole.expected == packets.count + (isOutage ? pause : 0))
        // Where the timestamps stand still, the first packet after a short pause may be late.
        let decoded = whole.playout.decoded.rawValue
        #expect((960 * (packets.count - 1)...960 * packets.count).contains(decoded), "\(whole.playout)")
        #expect(heard.seconds >= 0.019 * Double(packets.count))
    }
}
