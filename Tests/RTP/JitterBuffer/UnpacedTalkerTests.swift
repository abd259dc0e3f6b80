import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TenfourSeededRandom
import Testing

/// Talkers that send many seconds of audio at once.
struct UnpacedTalkerTests {
    /// All packets are played or counted as dropped, and nothing is concealed once the talker sends regularly.
    @Test(arguments: 0..<40 as Range<UInt64>) func playedAndDroppedMakeAllThatWasSent(seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        var talk = SimulatedTalk()
        talk.frameCount = FrameCount([120, 240, 480, 960, 960, 1_920, 2_880].randomElement(using: &chance)!)
        talk.firstSequenceNumber = SequenceNumber(rawValue: UInt16.random(in: .min ... .max, using: &chance))
        let frames = talk.frameCount.rawValue
        let seconds = Double.random(in: 2...15, using: &chance)
        let burst = Int(seconds * 48_000) / frames
        let spacing = Int.random(in: 0...min(100, frames / 8), using: &chance)
        let most = Int.random(in: 0...240, using: &chance)
        let jitter = (0..<burst + 60 * 48_000 / frames).map { _ in Int.random(in: 0...most, using: &chance) }
        talk.delay = { number in
            FrameCount(
                48
                    + (number < burst
                        ? (burst - number) * frames + spacing * (number - burst) + burst * spacing
                        : burst * spacing + jitter[number]))
        }
        talk.run(seconds: seconds + 1)
        let peak = talk.buffer.statistics
        #expect(peak.delay < FrameCount(76_800), "\(peak.delay)")
        talk.run(seconds: 5)
        let settled = talk.buffer.statistics.concealed
        talk.run(seconds: 20)
        let end = talk.buffer.statistics
        #expect(end.concealed == settled, "\(seed)")
        #expect(end.delay - end.target < FrameCount(2_400), "\(end.delay)")
        #expect(end.late == 0 && end.discarded == 0)
        // The queue holds less than the delay and a packet.
        let sent = Int((seconds + 26) * 48_000)
        let missing = sent - (end.decoded + end.dropped).rawValue
        #expect(missing >= 0 && missing <= end.delay.rawValue + burst * spacing + 3 * frames + 600, "\(missing)")
    }

    /// A playout delay of 1 s, and a network that becomes faster by less than the maximum lead: the audio that arrives at once
    /// is queued, however short its packets are.
    @Test(arguments: [120, 240, 480], [300, 600, 900])
    func aSecondOfDelayAndAFasterNetworkLoseNothing(frames: Int, milliseconds: Int) {
        for playoutDelay in [PlayoutConfiguration.Delay.adaptive, .fixed(FrameCount(48_000))] {
            var talk = SimulatedTalk(
                PlayoutConfiguration(playoutDelay: playoutDelay, minimum: FrameCount(48_000)))
            talk.frameCount = FrameCount(frames)
            let change = 5 * 48_000 / frames
            // Packets keep their order: the last ones before the change arrive together.
            talk.delay = { number in FrameCount(48 + min(48 * milliseconds, max(0, (change - number) * frames))) }
            talk.run(seconds: 40)
            let statistics = talk.buffer.statistics
            #expect(statistics.late == 0 && statistics.discarded == 0 && statistics.resyncs == 0, "\(playoutDelay)")
            #expect(statistics.dropped == .zero && statistics.concealed == .zero, "\(playoutDelay)")
            #expect(talk.packets == Array(0..<talk.packets.count), "\(playoutDelay)")
            // A delay that is too long by an eighth stays.
            #expect(statistics.delay < FrameCount(57_600), "\(statistics.delay)")
        }
    }

    /// A jump of the numbers empties the queue, and what was in it counts.
    @Test func aJumpDropsWhatIsQueued() {
        var talk = SimulatedTalk(PlayoutConfiguration(playoutDelay: .fixed(FrameCount(9_600))))
        talk.jump = { $0 >= 200 ? (10_000, 3_000_000) : (0, 0) }
        talk.run(seconds: 10)
        let statistics = talk.buffer.statistics
        #expect(statistics.resyncs == 1 && statistics.dropped > FrameCount(4_800))
        let missing = 480_000 - (statistics.decoded + statistics.dropped).rawValue
        #expect(missing >= 0 && missing <= 9_600 + 3 * 960, "\(missing)")
    }
}
