import TenfourAudioCore
import TenfourCallQuality
import TenfourJitterBuffer
import TenfourPackets
import Testing

@testable import tenfour

/// A low score in the line at the end says what made it low.
struct ScoreCausesTests {
    private func text(
        late: Int = 0, concealed: Int = 0, delay: Duration = .milliseconds(40), byteCount: Int = 160
    ) throws -> String {
        var counts = QualityCounts(expected: 1_000)
        counts.playout.decoded = FrameCount((1_000 - concealed) * 960)
        counts.playout.concealed = FrameCount(concealed * 960)
        counts.playout.late = late
        for _ in 0..<1_000 { counts.playout.coded.add(byteCount: byteCount, frameCount: FrameCount(960)) }
        var meter = QualityMeter(keepsSeconds: false)
        meter.observe(counts, delay: delay, of: SSRC(1), at: .seconds(20))
        let whole = meter.whole
        return whole.scoreText(try #require(whole.score))
    }

    @Test func theBestScoreIsReached() throws {
        #expect(try text() == "score 4.4 of 4.4")
        #expect(EModel(codec: .opus(bitRate: 64_000)).score == EModel.bestScore)
    }

    @Test func lateAndConcealedAudioAreNamed() throws {
        #expect(try text(late: 118, concealed: 123).hasSuffix(" of 4.4 (11.8% late, 12.3% concealed)"))
        #expect(try text(concealed: 50).hasSuffix(" of 4.4 (5.0% concealed)"))
    }

    @Test func aLongDelayIsNamed() throws {
        #expect(try text(delay: .milliseconds(600)).wholeMatch(of: /score [12]\.\d of 4\.4 \(delay 6\d\d ms\)/) != nil)
    }

    @Test func aLowBitRateIsNamed() throws {
        #expect(try text(byteCount: 25).hasSuffix("(coded at 10 kbit/s)"))
    }
}
