public import TenfourSeededRandom

extension SeededRandom {
    /// Returns an evenly distributed number in 0 ..< `bound`.
    public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
