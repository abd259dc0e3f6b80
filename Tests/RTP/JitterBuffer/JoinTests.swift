import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TenfourSeededRandom
import Testing

/// Somebody has been talking for a while when we begin to listen.
struct JoinTests {
    /// The packets that came before have waited for a card that began late, or in the socket. Later the card stops and
    /// starts again.
    @Test(arguments: 0..<300 as Range<UInt64>) func joiningStartsClean(seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        var talk = SimulatedTalk()
        talk.frameCount = FrameCount([480, 960, 960, 1_920, 2_880].randomElement(using: &chance)!)
        talk.firstSequenceNumber = SequenceNumber(rawValue: UInt16.random(in: .min ... .max, using: &chance))
        talk.firstTimestamp = RTPTimestamp(rawValue: UInt32.random(in: .min ... .max, using: &chance))
        let jitter = Int.random(in: 0...960, using: &chance)
        let latest = Bool.random(using: &chance) ? 16_800 : 120_000
        talk.ahead = FrameCount(Int.random(in: talk.frameCount.rawValue + 48 + jitter...latest, using: &chance))
        // The first of them wait in the socket for 350 ms at most, and 10 ms after the card's first request at the latest.
        let longestWait = min(16_800, talk.ahead.rawValue + 480)
        talk.receptionStart = FrameCount(Int.random(in: 0...longestWait, using: &chance)) - talk.ahead
        let delays = (0..<2_000).map { _ in FrameCount(48 + Int.random(in: 0...jitter, using: &chance)) }
        talk.delay = { delays[$0] }
        // Some senders mark every packet.
        let marksAll = Int.random(in: 0..<4, using: &chance) == 0
        talk.startsTalkspurt = { $0 == 0 || marksAll }
        talk.quantum = 240 * [1, 1, 2, 4].randomElement(using: &chance)!
        let longest = FrameCount(3_840 + talk.quantum - 240)
        let setting: Comment = """
            ahead \(talk.ahead), reading from \(talk.receptionStart), packets of \(talk.frameCount), jitter \(jitter), quantum \
            \(talk.quantum), marks \(marksAll)
            """
        talk.run(seconds: 1)
        let second = talk.buffer.statistics
        #expect(second.concealed <= FrameCount(960), setting)
        #expect(second.decoded > FrameCount(40_000), setting)
        talk.run(seconds: 1.2)
        let end = talk.buffer.statistics
        #expect(end.delay <= longest, setting)
        #expect(
            end.late <= 2 && end.discarded == 0 && end.resyncs == 0 && end.skipped == .zero && end.dropped == .zero,
            setting)

        let lost = FrameCount(Int.random(in: 4_800...120_000, using: &chance))
        talk.stand(still: lost)
        talk.run(seconds: 1)
        let after = talk.buffer.statistics
        #expect(after.skipped == lost && after.concealed - end.concealed <= FrameCount(960), setting)
        talk.run(seconds: 1)
        #expect(talk.buffer.statistics.delay <= longest, setting)
    }

    /// The first words of a talkspurt that begins while the card starts are kept, but no more of it than a call may be late.
    @Test(arguments: [(0.14, true), (0.3, false)]) func theStartOfATalkspurtIsKept(age: Double, isKept: Bool) {
        var talk = SimulatedTalk()
        talk.ahead = FrameCount(48_000)
        let start = 50 - Int(age * 50)
        talk.startsTalkspurt = { $0 == start }
        talk.isSpoken = { $0 < 10 || $0 >= start }
        talk.run(seconds: 2.2)
        #expect((talk.packets.first == start) == isKept, "\(talk.packets.first ?? -1) instead of \(start)")
        let statistics = talk.buffer.statistics
        #expect(statistics.concealed == .zero && statistics.delay <= FrameCount(3_840), "\(statistics.delay)")
    }

    /// A card that stops and starts again soon after its start is to blame for what it did not play, and nothing else is
    /// missing.
    @Test(arguments: [4_800, 24_000]) func aCardMayStopOnceMore(frames: Int) {
        var talk = SimulatedTalk()
        talk.ahead = FrameCount(14_400)
        talk.run(seconds: 0.3)
        talk.stand(still: FrameCount(frames))
        talk.run(seconds: 1)
        #expect(talk.buffer.statistics.concealed <= FrameCount(960), "\(talk.buffer.statistics.concealed)")
        talk.run(seconds: 1)
        #expect(talk.buffer.statistics.delay <= FrameCount(3_840), "\(talk.buffer.statistics.delay)")
    }

    /// A burst that comes while the card runs is the talker's doing, and none of it is dropped.
    @Test func whatComesAtOnceLaterIsPlayed() {
        var talk = SimulatedTalk()
        talk.isSpoken = { $0 >= 50 }
        talk.delay = { FrameCount(48 + max(75 - $0, 0) * 960) }
        talk.run(seconds: 4)
        #expect(Array(talk.packets.prefix(20)) == Array(50..<70), "\(talk.packets.prefix(20))")
    }
}
