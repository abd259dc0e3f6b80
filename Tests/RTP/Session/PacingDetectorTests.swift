import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import Testing

@testable import TenfourSession

struct PacingDetectorTests {
    /// Jitter and packets in bunches are not sent too fast, however long they last.
    @Test(arguments: [(1, 3), (1, 10), (1, 40), (2, 0), (25, 0)] as [(bunch: Int, jitter: Int)])
    func jitterAndBunchesAreNotReported(bunch: Int, jitter: Int) {
        var chance = SeededRandom(seed: 1)
        var detector = PacingDetector()
        var arrival = Instant.start
        for number in 0..<100_000 {
            let late = Duration.microseconds(Int.random(in: 0...1_000 * jitter, using: &chance))
            arrival = max(arrival, .start + .milliseconds(20 * (number / bunch + 1) * bunch) + late)
            detector.insert(
                RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: 960 * number)), FrameCount(960), at: arrival)
            guard !detector.isNewlyTooFast() else {
                Issue.record("reported at packet \(number)")
                return
            }
        }
    }

    /// Also after a pause in which the timestamps stood still.
    @Test(arguments: [1.05, 2, 50], [0, 60]) func aSenderThatIsTooFastIsReported(speed: Double, pause: Int) {
        var detector = PacingDetector()
        var isReported = false
        for number in 0..<6_000 {
            let start = number < 100 ? Duration.zero : .seconds(pause)
            detector.insert(
                RTPTimestamp(rawValue: UInt32(960 * number)), FrameCount(960),
                at: .start + start + .seconds(0.02 * Double(number) / speed))
            if detector.isNewlyTooFast() { isReported = true }
        }
        #expect(isReported == (speed > 1.1 || pause == 0))
    }
}
