public import TenfourNetworkEmulator

extension SeededRandom {
    /// Evenly from zero up to, and never, `bound`.
    public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
