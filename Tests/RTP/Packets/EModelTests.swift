import TenfourAudioCore
import TenfourPackets
import Testing

/// Against figures that the ITU has published, and those the constants of Opus are fitted to.
struct EModelTests {
    /// G.107 clause 7.7: "the calculation results in a very high quality with a rating factor of R = 93.2".
    @Test func defaultsGiveTheRatingThatG107Gives() {
        let defaults = EModel(codec: .init(impairment: 0, robustness: 4.3))
        #expect(abs(defaults.rating - 93.2) < 0.05)
        #expect(abs(defaults.score - 4.41) < 0.005)
    }

    /// G.107 annex B, table B.1, which has 4.03 where its own formula gives 4.024.
    @Test(arguments: [
        (90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58), (0, 1), (-5, 1), (100, 4.5), (120, 4.5),
    ])
    func theScoreFollowsTheRatingAsInAnnexB(rating: Double, score: Double) {
        #expect(abs(EModel.score(ofRating: rating) - score) < 0.007)
    }

    /// The formula dips below 1 for ratings under 6.5, which the scale does not have.
    @Test func noScoreIsBelowOne() {
        for rating in stride(from: 0.0, through: 10, by: 0.25) { #expect(EModel.score(ofRating: rating) >= 1) }
    }

    /// G.113 appendix I, the impairment of G.729A with VAD at random loss: 19 at 2 %, 26 at 4 %, 36 at 8 %.
    @Test(arguments: [(0.0, 11), (0.02, 19), (0.04, 26), (0.08, 36)])
    func lossCostsG729AWhatG113Says(share: Double, impairment: Double) {
        let rating = EModel(lossShare: share, codec: .g729A).rating
        #expect(abs(93.2 - rating - impairment) < 0.6, "\(rating)")
    }

    /// G.114 figure I.1, drawn by the E-model: nothing to be heard up to 150 ms, then a fall.
    @Test func delayCostsLittleUpToATenthOfASecondAndMuchFromAQuarterOn() {
        func cost(_ milliseconds: Int) -> Double {
            93.2 - EModel(delay: .milliseconds(milliseconds), codec: .init(impairment: 0, robustness: 4.3)).rating
        }
        #expect(abs(cost(0)) < 0.05 && abs(cost(100)) < 0.05)
        #expect(cost(150) < 0.3)
        #expect((2.5...3.5).contains(cost(200)), "\(cost(200))")
        #expect((22...26).contains(cost(400)), "\(cost(400))")
        #expect(cost(100_000_000) <= 93.3)
    }

    @Test func burstsAreWorseThanTheSameLossSpreadOut() {
        let spread = EModel(lossShare: 0.1)
        let bursts = EModel(lossShare: 0.1, burstRatio: 2.7)
        #expect(bursts.rating < spread.rating - 5)
        #expect(EModel(lossShare: 0.1, burstRatio: 0.2).rating == spread.rating, "less than chance is chance")
    }

    /// The measurements to which the constants for holes are fitted: share, length in milliseconds, and PESQ at 32
    /// kbit/s.
    @Test(arguments: [
        (0.01, 20, 3.75), (0.01, 250, 4.15), (0.02, 5, 2.94), (0.02, 43, 3.44), (0.02, 700, 3.98), (0.05, 5, 2.16),
        (0.05, 20, 2.5), (0.05, 43, 2.23), (0.05, 100, 3.0), (0.05, 250, 3.08), (0.05, 700, 3.56), (0.1, 20, 1.82),
        (0.1, 250, 2.37), (0.2, 5, 1.37), (0.2, 43, 1.2), (0.2, 250, 1.62), (0.2, 700, 1.98), (0.5, 20, 1.11),
        (0.5, 700, 1.21),
    ])
    func holesScoreAsPESQMeasuredThem(share: Double, length: Int, pesq: Double) {
        let score = EModel(missingShare: share, holeLength: .milliseconds(length)).score
        #expect(score - pesq < 0.25 && pesq - score < 0.5, "\(score)")
    }

    /// However long the holes are.
    @Test(arguments: [0, 1, 20, 1_000, 10_000]) func muchThatIsMissingIsBad(length: Int) {
        let length = Duration.milliseconds(length)
        #expect(EModel(missingShare: 0.2, holeLength: length).score < 2.5)
        #expect(EModel(missingShare: 0.5, holeLength: length).score < 1.6)
        #expect(EModel(missingShare: 0.9, holeLength: length).score < 1.1)
        #expect(EModel(missingShare: 1, holeLength: length).score == 1)
    }

    /// What Opus' constants are fitted to: bit rate, loss and PESQ.
    @Test(arguments: [
        (16_000, 0, 3.95), (24_000, 0, 4.27), (32_000, 0, 4.39), (24_000, 0.008, 3.97), (24_000, 0.037, 3.02),
        (24_000, 0.052, 2.71), (24_000, 0.097, 2.08), (24_000, 0.206, 1.46), (32_000, 0.037, 3.07),
        (32_000, 0.052, 2.77), (32_000, 0.097, 2.09), (32_000, 0.206, 1.46),
    ])
    func opusScoresAsPESQMeasuredIt(bitRate: Int, lossShare: Double, pesq: Double) {
        let score = EModel(lossShare: lossShare, codec: .opus(bitRate: bitRate)).score
        #expect(abs(score - pesq) < 0.2, "\(score)")
    }

    /// The same with other packets and concealment: what a packet holds in microseconds, whether by deep PLC, loss, PESQ.
    @Test(arguments: [
        (24_000, 20_000, true, 0.02, 3.82), (24_000, 20_000, true, 0.05, 3.05), (24_000, 20_000, true, 0.1, 2.58),
        (32_000, 20_000, true, 0.02, 3.87), (32_000, 20_000, true, 0.05, 3.11), (32_000, 20_000, true, 0.1, 2.60),
        (24_000, 10_000, false, 0.0, 4.20), (24_000, 10_000, false, 0.02, 3.61), (24_000, 10_000, false, 0.05, 3.10),
        (24_000, 10_000, true, 0.02, 3.70), (24_000, 10_000, true, 0.05, 3.20), (32_000, 10_000, true, 0.02, 3.84),
        (24_000, 5_000, false, 0.0, 3.71), (24_000, 5_000, false, 0.02, 2.81), (24_000, 5_000, true, 0.05, 2.32),
        (32_000, 5_000, false, 0.0, 4.13), (32_000, 5_000, true, 0.02, 3.04), (24_000, 2_500, false, 0.0, 3.17),
        (24_000, 2_500, true, 0.02, 1.94), (64_000, 2_500, false, 0.0, 4.45), (64_000, 2_500, true, 0.02, 2.00),
        (24_000, 60_000, false, 0.05, 2.89), (24_000, 60_000, true, 0.05, 3.07),
    ])
    func packetsAndConcealmentScoreAsPESQMeasuredThem(
        bitRate: Int, frame: Int, isDeep: Bool, lossShare: Double, pesq: Double
    ) {
        let codec = EModel.Codec.opus(bitRate: bitRate, frame: .microseconds(frame), deepShare: isDeep ? 1 : 0)
        let score = EModel(lossShare: lossShare, codec: codec).score
        #expect(abs(score - pesq) < 0.4, "\(score)")
    }

    @Test func whateverIsGivenTheScoreStaysOnItsScale() {
        for share in [-1, 0, 0.5, 1, 7, .infinity] {
            for bitRate in [0, 6_000, 510_000, .max] {
                let model = EModel(
                    delay: .seconds(-1), lossShare: share, burstRatio: .infinity, codec: .opus(bitRate: bitRate))
                #expect((1...4.5).contains(model.score) && (0...100).contains(model.rating), "\(model)")
            }
        }
    }
}
