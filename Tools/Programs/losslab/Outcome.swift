import TenfourAudioCore
import TenfourAudioFile

/// The results of a receiver. A delay is the time from the sending of a packet to its playout, in milliseconds. A share
/// is relative to the audio that was due.
struct Outcome {
    var delays: [Double] = []
    var concealedShare = 0.0
    /// The share of concealed audio that deep PLC produced.
    var deepShare = 0.0
    var recoveredShare = 0.0
    var stretchedShare = 0.0
    var late = 0
    var resyncs = 0
    /// The received audio at 48 kHz; empty for a receiver that only counts.
    var heard: [Float] = []

    var meanDelay: Double { mean(delays[...]) }
    /// The mean delay of the last quarter of `delays`.
    var delayAtTheEnd: Double { mean(delays.suffix(delays.count / 4)) }

    func delay(within share: Double) -> Double {
        delays.isEmpty ? 0 : delays.sorted()[Int(Double(delays.count - 1) * share)]
    }

    private func mean(_ delays: ArraySlice<Double>) -> Double {
        delays.isEmpty ? 0 : delays.reduce(0, +) / Double(delays.count)
    }
}

extension Outcome {
    /// Writes the received audio as WAV; `%s` in the path stands for the seed.
    func write(to path: String, seed: UInt64) throws {
        guard !heard.isEmpty else { return }
        let path = path.split(separator: "%s", omittingEmptySubsequences: false).joined(separator: "\(seed)")
        var writer = try AudioFileWriter(path: path, format: .mono)
        try writer.write(heard.span)
        try writer.close()
    }

    /// Returns one line of JSON: `names`, followed by the results.
    func line(_ names: [(String, String)], bitRate: Double) -> String {
        let numbers: [(String, Double)] = [
            ("kbit_s", bitRate / 1_000), ("delay_ms", meanDelay), ("delay_at_the_end_ms", delayAtTheEnd),
            ("p95_ms", delay(within: 0.95)),
            ("concealed_percent", concealedShare * 100), ("deep_percent", deepShare * 100),
            ("recovered_percent", recoveredShare * 100),
            ("stretched_percent", stretchedShare * 100), ("late", Double(late)), ("resyncs", Double(resyncs)),
        ]
        let fields =
            names.map { "\"\($0.0)\": \"\($0.1)\"" }
            + numbers.map { "\"\($0.0)\": \(($0.1 * 1_000).rounded() / 1_000)" }
        return "{" + fields.joined(separator: ", ") + "}"
    }
}
