/// How a receiver did. Delays in milliseconds, from a packet's sending to its playout; shares of the sound that was due.
struct Outcome {
    var delays: [Double] = []
    var concealedShare = 0.0
    var recoveredShare = 0.0
    var stretchedShare = 0.0
    var late = 0
    var resyncs = 0
    /// What was heard, at 48 kHz; empty for a receiver that only counts.
    var heard: [Float] = []

    var meanDelay: Double { delays.isEmpty ? 0 : delays.reduce(0, +) / Double(delays.count) }

    func delay(within share: Double) -> Double {
        delays.isEmpty ? 0 : delays.sorted()[Int(Double(delays.count - 1) * share)]
    }
}
