import TenfourCallQuality
import TenfourCommandSupport
import TenfourPackets

/// A score in the line at the end, with what made it low.
extension QualitySummary {
    /// The amount by which the score would be better without a cause from which on the cause is named.
    private static let minimumCost = 0.15

    /// Formats `score`, such as `score 2.0 of 4.4 (11.8% late, 12.3% concealed, delay 450 ms)`. Audio that was not
    /// played or was dropped has figures of its own in the line, and is not repeated.
    func scoreText(_ score: Double) -> String {
        let causes = scoreCauses
        return "score \(decimal(score, places: 1)) of \(decimal(EModel.bestScore, places: 1))"
            + (causes.isEmpty ? "" : " (\(causes.joined(separator: ", ")))")
    }

    private var scoreCauses: [String] {
        guard let model else { return [] }
        func costs(_ change: (inout EModel) -> Void) -> Bool {
            var better = model
            change(&better)
            return better.score - model.score >= Self.minimumCost
        }
        var causes: [String] = []
        if costs({ $0.lossShare = 0 }) {
            if let late = lateShare, late >= 0.0005 { causes.append("\(percent(late)) late") }
            if let concealed = concealedShare, concealed >= 0.0005 { causes.append("\(percent(concealed)) concealed") }
        }
        if costs({ $0.delay = .zero }) {
            causes.append("delay \(decimal(model.delay / .milliseconds(1), places: 0)) ms")
        }
        if costs({ $0.codec.impairment = 0 }), let bitRate = codecBitRate {
            causes.append("coded at \(decimal(Double(bitRate) / 1_000, places: 0)) kbit/s")
        }
        return causes
    }

    private func percent(_ share: Double) -> String { "\(decimal(share * 100, places: 1))%" }
}
