import Foundation
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourSeededRandom
import Testing

/// The delay of a quiet link changes and stays. `Tools/test --long` plays 1000 seeds.
@Suite struct DelayStepTests {
    private static let seedCount = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 5 : 125

    /// Steps up and down, slow ramps, jitter of at most 5 ms, drift, packets of 2.5 to 60 ms.
    @Test(arguments: 0..<8) func nothingThatArrivesIsConcealedFiveSecondsAfterAChange(part: Int) {
        for seed in part * Self.seedCount..<(part + 1) * Self.seedCount {
            expectSettled(QuietLink(seed: UInt64(seed) + 1))
        }
    }

    /// The links among the first 10 000 that the jitter buffer once failed: drift that was not known yet, the end of a long
    /// ramp, and changes of the route within half a second of each other.
    @Test func theHardestLinksSettleWithinFiveSeconds() {
        let seeds: [UInt64] = [
            99, 1106, 1142, 1356, 1756, 1787, 1834, 1935, 2596, 3010, 3564, 3770, 3771, 4323, 4578, 4649, 4807, 4922,
            5492, 6564, 6708, 6867, 6877, 7003, 7197, 7275, 7361, 7416, 7565, 8497, 8879, 8969, 9150,
        ]
        for seed in seeds { expectSettled(QuietLink(seed: seed)) }
    }

    private func expectSettled(_ link: QuietLink) {
        let outcome = link.play()
        #expect(outcome.concealments == 0, "\(link)")
        #expect(outcome.excess <= link.tolerance, "\(link)")
    }

    /// Of packets of 20 ms, whose jitter is as small as on a wired network.
    @Test(arguments: [5.0, 20, 60, 150], [0.0, 0.05, 0.1, 0.5])
    func aLastingStepIsLearnedWithinASecond(step: Double, jitter: Double) {
        for seed in 0..<8 as Range<UInt64> {
            var chance = SeededRandom(seed: seed)
            let transit = 3 + 0.3 * Double(seed)
            let delays = (0..<1_000).map { number in
                FrameCount(Int(48 * (transit + jitter * chance.unit() + (number >= 400 ? step : 0))))
            }
            var talk = SimulatedTalk(PlayoutConfiguration(margin: FrameCount(120)))
            (talk.pullLength, talk.quantum) = (120, 120)
            talk.delay = { delays[$0] }
            talk.run(seconds: 8)
            let before = talk.concealed
            talk.run(seconds: 1.2)
            let after = talk.concealed
            #expect(after - before <= Int(48 * (step + 50)), "\(seed)")
            talk.run(seconds: 10)
            #expect(talk.concealed == after, "\(seed)")
            let delay = Double(talk.buffer.statistics.delay.rawValue) / 48
            #expect(delay < jitter + 10, "\(seed)")
        }
    }

    /// Four steps of 60 ms, and back again.
    @Test func stepAfterStepIsFollowed() {
        var talk = SimulatedTalk()
        talk.delay = { FrameCount(48 + 2_880 * (4 - abs($0 / 200 - 4))) }
        talk.run(seconds: 4.2)
        for _ in 0..<4 {
            talk.run(seconds: 1)
            let before = talk.concealed
            talk.run(seconds: 2.8)
            #expect(talk.concealed == before)
            talk.run(seconds: 0.2)
        }
        talk.run(seconds: 20)
        #expect(talk.buffer.statistics.delay < FrameCount(960))
    }
}
