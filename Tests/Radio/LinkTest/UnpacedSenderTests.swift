import TenfourAudioCore
import TenfourCallQuality
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import Testing

/// Senders that send their audio faster than real time, and senders whose timestamps jump.
struct UnpacedSenderTests {
    /// Many seconds at once, alone or before a regular stream: what is not played is counted, and the delay stays short.
    @Test(arguments: 0..<16 as Range<UInt64>) func whatIsDroppedIsCounted(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        var tone = SentTone()
        tone.length = [160, 160, 320, 480].randomElement(using: &chance)!
        let packet = Double(tone.length) / 8_000
        let burst = Int(Double.random(in: 3...20, using: &chance) / packet)
        let spacing = Double.random(in: 0.00002...0.001, using: &chance)
        let rest = seed % 2 == 0 ? 0 : Int(15 / packet)
        let packets = try tone.packets(
            burst + rest,
            at: {
                .seconds($0 < burst ? spacing * Double($0) : spacing * Double(burst) + packet * Double($0 - burst + 1))
            })
        var receiver = try SimulatedReceiver(of: SSRC(9))
        let heard = HeardTone(packets, through: &receiver)
        #expect(
            receiver.senderMistakes == [.sourceSendsTooFast(SSRC(9), interval: .seconds(packet))],
            "\(receiver.senderMistakes)")
        let report = receiver.report()
        let whole = report.whole
        let frames = tone.length * 6
        let sum = whole.playout.heard + whole.playout.dropped
        #expect(abs(sum.rawValue - packets.count * frames) <= frames, "\(sum) of \(packets.count * frames)")
        #expect(whole.lost == 0 && whole.playout.late == 0 && whole.playout.concealed <= FrameCount(9_600))
        #expect(whole.playout.dropped.rawValue > (burst * frames - 2 * 48_000))
        #expect((whole.delays.maximum ?? .zero) < .milliseconds(1_600), "\(String(describing: whole.delays.maximum))")
        #expect(heard.seconds > 0.4 + 0.9 * Double(rest) * packet, "\(heard.seconds)")
        for second in report.seconds.dropFirst(6).dropLast(2) { #expect(second.playout.concealed == .zero) }
    }

    /// Twice the speed, for as long as the stream lasts.
    @Test func aSenderAtTwiceTheSpeedIsPlayedWithoutAGap() throws {
        let packets = try SentTone().packets(1_000, at: { .milliseconds(10 * $0) })
        var receiver = try SimulatedReceiver(of: SSRC(9))
        let heard = HeardTone(packets, through: &receiver)
        #expect(receiver.senderMistakes == [.sourceSendsTooFast(SSRC(9), interval: .milliseconds(20))])
        let whole = receiver.report().whole
        #expect(whole.playout.heard + whole.playout.dropped == FrameCount(960_000))
        #expect(heard.longestGap() <= 1 && (whole.delays.maximum ?? .zero) < .milliseconds(1_600))
    }

    /// A network that stands still and then delivers all that it has held back is no such sender.
    @Test(arguments: 0..<12 as Range<UInt64>) func stallsOfTheNetworkAreNotReported(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        var stalls: [Range<Int>] = []
        for _ in 0..<4 {
            let start = (stalls.last?.upperBound ?? 0) + Int.random(in: 100...400, using: &chance)
            stalls.append(start..<start + Int.random(in: 5...240, using: &chance))
        }
        let packets = try SentTone().packets(
            2_400,
            at: { number in
                let stall = stalls.first { $0.contains(number) }
                return .milliseconds(20 * (stall?.upperBound ?? number)) + .microseconds(number)
            })
        var receiver = try SimulatedReceiver(of: SSRC(9))
        _ = HeardTone(packets, through: &receiver)
        #expect(receiver.senderMistakes.isEmpty)
        #expect(receiver.report().whole.playout.dropped == .zero)
    }

    /// Twenty jumps within two seconds, of any size, while the packets follow each other.
    @Test(arguments: 0..<16 as Range<UInt64>) func jumpsOfTheTimestampLeaveNoGap(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        let begin = Int.random(in: 50...200, using: &chance)
        let largest = [800, 4_000, 8_000, 80_000, 800_000][Int(seed) % 5]
        var offset: UInt32 = 0
        var offsets: [UInt32] = []
        var jitter: [Int] = []
        let most = seed % 3 == 0 ? 0 : Int.random(in: 0...5_000, using: &chance)
        for number in 0..<500 {
            if (begin..<begin + 100).contains(number), number % 5 == 0 {
                offset &+= UInt32(truncatingIfNeeded: Int.random(in: -largest...largest, using: &chance))
            }
            offsets.append(offset)
            jitter.append(Int.random(in: 0...most, using: &chance))
        }
        let packets = try SentTone().packets(
            500, at: { .milliseconds(20 * $0) + .microseconds(jitter[$0]) }, jump: { offsets[$0] })
        var receiver = try SimulatedReceiver(of: SSRC(9))
        let heard = HeardTone(packets, through: &receiver)
        #expect(receiver.senderMistakes.isEmpty)
        let report = receiver.report()
        let whole = report.whole
        #expect(whole.lost == 0 && whole.playout.resyncs == 0 && whole.playout.dropped == .zero)
        #expect(whole.playout.heard == FrameCount(480_000) && whole.playout.concealed <= FrameCount(9_600))
        #expect(heard.longestGap() <= 1 && (9.9...10.4).contains(heard.seconds), "\(heard.seconds)")
        #expect((whole.delays.maximum ?? .zero) < .milliseconds(60), "\(String(describing: whole.delays.maximum))")
        for second in report.seconds.dropFirst((begin + 100) / 50 + 6).dropLast(1) {
            #expect(second.playout.concealed == .zero)
        }
    }
}
