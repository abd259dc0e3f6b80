import TenfourAudioCore
import TenfourCallQuality
import TenfourJSON
import TenfourJitterBuffer
import TenfourPackets
import Testing

/// Counts of a talker whose packets come each 20 ms, after `packets` of them.
private func counts(packets: Int, lost: Int = 0, runs: Int = 0, concealed: Int = 0) -> QualityCounts {
    var counts = QualityCounts(expected: packets, lost: lost, lossRuns: runs)
    counts.playout.decoded = FrameCount((packets - concealed) * 960)
    counts.playout.concealed = FrameCount(concealed * 960)
    return counts
}

private let alice = SSRC(1)

struct QualityTests {
    @Test func aSecondHoldsWhatWasAddedInIt() throws {
        var meter = QualityMeter(keepsSeconds: true)
        meter.observe(counts(packets: 50), of: alice, at: .milliseconds(990))
        meter.observe(counts(packets: 100, lost: 5, runs: 2, concealed: 5), of: alice, at: .milliseconds(1_990))
        meter.observe(delay: .milliseconds(30), of: alice, at: .milliseconds(1_990))
        meter.observe(counts(packets: 150, lost: 5, runs: 2, concealed: 5), of: alice, at: .milliseconds(2_500))
        let report = meter.report
        #expect(report.seconds.map(\.lostShare) == [0, 0.1, 0])
        #expect(report.seconds.map(\.concealedShare) == [0, 0.1, 0])
        #expect(report.seconds[1].burstLength == 2.5)
        #expect(report.seconds.map(\.delays.count) == [0, 1, 0])
        let score = try #require(report.seconds[1].score)
        #expect(score < (try #require(report.seconds[0].score)) - 1)
        #expect(report.whole.expected == 150 && report.whole.lost == 5)
    }

    /// A codec with fewer bits sounds worse, and each second by its own.
    @Test func theScoreIsThatOfTheBitRateAtWhichSoundCame() throws {
        var meter = QualityMeter(keepsSeconds: true)
        var all = counts(packets: 0)
        for (second, byteCount) in [80, 40, 3].enumerated() {
            all.expected += 50
            all.playout.decoded += FrameCount(50 * 960)
            for _ in 0..<50 {
                all.playout.coded.add(byteCount: byteCount, frameCount: FrameCount(960))
            }
            meter.observe(all, of: alice, at: .milliseconds(1_000 * second + 500))
        }
        let seconds = meter.report.seconds
        #expect(seconds.map(\.playout.coded.bitRate) == [32_000, 16_000, nil], "packets of silence say nothing")
        #expect(
            seconds.map(\.codecBitRate) == [32_000, 16_000, 16_000], "and the score is that of what was known before")
        #expect(seconds[2].score == seconds[1].score)
        #expect(try #require(seconds[1].score) < (try #require(seconds[0].score)) - 0.3)
        #expect(meter.whole.playout.coded.bitRate == 24_000)
    }

    /// `Ie` = 0 and `Bpl` = 25.1 of ITU-T G.113 appendix I, before and in a pause.
    @Test func aStreamOfG711IsScoredAsG711() throws {
        var meter = QualityMeter(keepsSeconds: true)
        var all = counts(packets: 0)
        for second in 0..<2 {
            all.expected += 50
            all.playout.decoded += FrameCount(49 * 960)
            all.playout.concealed += FrameCount(960)
            for _ in 0..<50 where second == 0 {
                all.playout.coded.add(byteCount: 160, frameCount: FrameCount(960), encoding: .pcma)
            }
            meter.observe(all, of: alice, at: .milliseconds(1_000 * second + 500))
        }
        for summary in meter.report.seconds {
            #expect(summary.encoding == .pcma && summary.codecBitRate == 64_000)
            let model = try #require(summary.model)
            #expect(model.codec == .g711)
            #expect(abs(model.score - EModel(lossShare: 0.02, codec: .g711).score) < 0.01)
        }
        #expect(meter.whole.encoding == .pcma)
    }

    /// As a session's command tells it: counts and delay at once.
    @Test func aDelayToldWithTheCountsIsThatOfTheirSecondAndTalker() {
        var meter = QualityMeter(keepsSeconds: true)
        meter.observe(counts(packets: 50), delay: .milliseconds(20), of: alice, at: .milliseconds(900))
        meter.observe(counts(packets: 50), delay: .milliseconds(60), of: SSRC(2), at: .milliseconds(1_100))
        meter.observe(counts(packets: 100), of: alice, at: .milliseconds(1_900))
        #expect(meter.report.seconds.map(\.delays.mean) == [.milliseconds(20), .milliseconds(60)])
        #expect(meter.talkers.map(\.whole.delays.mean) == [.milliseconds(20), .milliseconds(60)])
        #expect(meter.whole.delays.count == 2 && meter.whole.delays.mean == .milliseconds(40))
    }

    @Test func secondsWithoutAnythingAreThereAndKnowNothing() {
        var meter = QualityMeter(keepsSeconds: true)
        meter.observe(counts(packets: 10), of: alice, at: .seconds(3))
        #expect(meter.report.seconds.map(\.score).map { $0 == nil } == [true, true, true, false])
        #expect(meter.report.seconds[0].json.line.contains("\"lost_share\": null"))
    }

    /// A packet that was missed and comes after all takes its loss back.
    @Test func aLossThatWasNoneIsTakenBackInTheWhole() {
        var meter = QualityMeter(keepsSeconds: true)
        meter.observe(counts(packets: 50, lost: 1, runs: 1), of: alice, at: .milliseconds(500))
        meter.observe(counts(packets: 100, lost: 0, runs: 1), of: alice, at: .milliseconds(1_500))
        #expect(meter.report.seconds.map(\.lostShare) == [0.02, 0])
        #expect(meter.whole.lost == 0 && meter.whole.burstLength == nil)
    }

    /// Sound that the card leaves out is no loss of the network, but costs score, too.
    @Test func audioThatTheCardDoesNotPlayLowersTheScore() throws {
        var scores: [Double] = []
        for share in [0.0, 0.05, 0.2, 0.5] {
            var meter = QualityMeter(keepsSeconds: true)
            var all = counts(packets: 500)
            all.playout.decoded = FrameCount(Int(480_000 * (1 - share)))
            all.playout.skipped = FrameCount(Int(480_000 * share))
            all.playout.holes = Int(480_000 * share) / 960
            meter.observe(all, of: alice, at: .milliseconds(500))
            let whole = meter.whole
            #expect(abs((try #require(whole.missingShare)) - share) < 1e-9 && whole.lostShare == 0)
            #expect(whole.holeLength == (share > 0 ? .milliseconds(20) : nil))
            scores.append(try #require(whole.score))
        }
        #expect(scores[0] > 4.2 && scores[1] < 3 && scores[2] < 2.5 && scores[3] < 1.6, "\(scores)")
        #expect(scores == scores.sorted(by: >))
    }

    /// An outage is noticed 1.8 s after it began, and counts in the seconds in which it was.
    @Test func anOutageIsInTheSecondsInWhichNothingArrived() throws {
        var meter = QualityMeter(keepsSeconds: true)
        meter.observe(counts(packets: 200), of: alice, at: .seconds(4))
        for step in 0...62 {
            let elapsed = Duration.milliseconds(4_000 + step * 100)
            let outage = step < 20 || step > 50 ? nil : elapsed - .milliseconds(4_250)
            meter.observe(outage: outage ?? (step > 50 ? .milliseconds(4_750) : .zero), of: alice, at: elapsed)
        }
        let outages = meter.report.seconds.map { Int($0.outage / .milliseconds(1)) }
        #expect(outages == [0, 0, 0, 0, 750, 1_000, 1_000, 1_000, 1_000, 0, 0])
        #expect(meter.whole.outage == .milliseconds(4_750) && meter.whole.outageCount == 1)
        let scores = meter.report.seconds.map(\.score)
        #expect(scores[5...8].allSatisfy { $0 == 1 }, "\(scores)")
        #expect(scores[9] == nil)
        #expect(try #require(meter.whole.score) < 1.3)
        #expect(meter.whole.json.line.contains(#""outage_ms": 4750"#))
        #expect(meter.whole.text.contains("not arrived 4.8 s: the other end was on the air"), "\(meter.whole.text)")
    }

    /// A talker of whom nothing ever arrived has the worst score, and each of its outages counts.
    @Test func aTalkerOfWhomNothingArrivedHasTheWorstScore() throws {
        var meter = QualityMeter(keepsSeconds: false)
        for second in 0...30 {
            let outage = Duration.seconds(second < 10 ? second : second < 20 ? 9 : second - 11)
            meter.observe(outage: outage, of: alice, at: .seconds(second))
        }
        #expect(meter.whole.outage == .seconds(19) && meter.whole.outageCount == 2)
        #expect(meter.whole.score == 1 && meter.recent.score == 1)
        #expect(meter.recent.outage == .seconds(5))
        // The counts of a participant begin again with its next session.
        meter.observe(outage: .seconds(2), of: alice, at: .seconds(40))
        #expect(meter.whole.outage == .seconds(21))
    }

    @Test func aStreamThatWasNeverPlayedHasNoScore() throws {
        var meter = QualityMeter(keepsSeconds: true)
        var encrypted = counts(packets: 3)
        meter.observe(encrypted, of: alice, at: .milliseconds(100))
        encrypted.expected = 50
        encrypted.isPlayable = false
        encrypted.playout.concealed += FrameCount(4_800)
        meter.observe(encrypted, of: alice, at: .milliseconds(1_500))
        #expect(meter.whole.score == nil && meter.recent.score == nil)
        #expect(meter.report.seconds.allSatisfy { $0.score == nil })
        #expect(meter.whole.expected == 50 && meter.whole.text.contains("nothing"))
        // A talker that is heard beside them gets a score.
        meter.observe(counts(packets: 50), of: SSRC(2), at: .milliseconds(1_600))
        #expect(try #require(meter.whole.score) > 4)
        #expect(meter.talkers.map { $0.whole.score == nil } == [true, false])
    }

    @Test func aStreamOfWhichNothingCouldBeDecodedHasNoScore() {
        var meter = QualityMeter(keepsSeconds: true)
        meter.observe(counts(packets: 50, concealed: 50), of: alice, at: .milliseconds(900))
        #expect(meter.whole.score == nil)
        meter.observe(counts(packets: 100, concealed: 50), of: alice, at: .milliseconds(1_900))
        meter.observe(counts(packets: 150, lost: 50, runs: 1, concealed: 100), of: alice, at: .milliseconds(2_900))
        #expect(
            meter.report.seconds.map { $0.score == nil } == [true, false, false], "lost altogether is bad, not unknown")
    }

    /// A line's total is that of its parts.
    @Test func figuresForPeopleAddUp() {
        var meter = QualityMeter(keepsSeconds: false)
        meter.observe(counts(packets: 570, lost: 26, runs: 20, concealed: 2), of: alice, at: .seconds(11))
        #expect(meter.whole.text.contains("lost        26 of 570 packets (4.6%), 1.3 in a row"))
    }

    @Test func talkersAddUpAndOneWhoBeginsAgainGoesOn() {
        var meter = QualityMeter(keepsSeconds: false)
        meter.observe(counts(packets: 50), of: alice, at: .milliseconds(900))
        meter.observe(counts(packets: 20, lost: 2, runs: 2), of: SSRC(2), at: .milliseconds(900))
        meter.observe(counts(packets: 10, lost: 1, runs: 1), of: alice, at: .milliseconds(1_900))
        #expect(meter.whole.expected == 80 && meter.whole.lost == 3)
        #expect(meter.talkers.map(\.whole.expected) == [60, 20])
    }

    @Test func recentFiguresForgetAndUnkeptOnesAreGone() {
        var meter = QualityMeter(keepsSeconds: false)
        for second in 0..<100 {
            meter.observe(
                counts(packets: 50 * second, lost: min(second, 50), runs: min(second, 50)), of: alice,
                at: .seconds(second))
        }
        #expect(meter.recent.lost == 0 && meter.recent.expected == 300)
        #expect(meter.seconds.count == 5 && meter.whole.lost == 50)
    }

    @Test func delaysAreToldToATenthOfAMillisecond() {
        var samples = DelaySamples()
        #expect(samples.mean == nil && samples.quantile(0.95) == nil)
        for millisecond in 1...100 { samples.add(.milliseconds(millisecond)) }
        #expect(samples.mean == .microseconds(50_500) && samples.maximum == .milliseconds(100))
        #expect(samples.quantile(0) == .milliseconds(1) && samples.quantile(0.95) == .milliseconds(95))
        #expect(samples.quantile(1) == .milliseconds(100))
        var both = samples
        both.add(samples)
        #expect(both.mean == samples.mean && both.count == 200)
    }

    /// The whole call has each documented member.
    @Test func theWholeHasTheDocumentedMembers() {
        var meter = QualityMeter(keepsSeconds: true)
        meter.observe(counts(packets: 50), of: alice, at: .zero)
        meter.observe(delay: .milliseconds(12), of: alice, at: .zero)
        let names = meter.whole.members.map(\.0)
        for name in [
            "delay_ms", "lost_share", "late_share", "concealed_share", "recovered_share", "stretched_share", "resyncs",
            "score",
        ] { #expect(names.contains(name)) }
        #expect(meter.whole.json.line.contains(#""delay_ms": { "mean": 12, "p95": 12, "max": 12 }"#))
        #expect(meter.report.members().map(\.0) == ["whole", "seconds", "talkers"])
    }
}
