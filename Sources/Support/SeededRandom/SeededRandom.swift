/// A repeatable random number generator: xoshiro256** 1.0 by Blackman and Vigna, with its state filled by SplitMix64.
///
/// The same seed gives the same numbers on every machine and in every release. The standard library does not promise
/// this for its own generator or for `Double.random(in:using:)`. Do not use it for secrets.
public struct SeededRandom: RandomNumberGenerator, Hashable, Sendable {
    private var a, b, c, d: UInt64

    public init(seed: UInt64) {
        var filler = SplitMix64(state: seed)
        self.init(state: (filler.next(), filler.next(), filler.next(), filler.next()))
    }

    /// Creates a generator with the four words of xoshiro's state; at least one must not be zero.
    init(state: (UInt64, UInt64, UInt64, UInt64)) { (a, b, c, d) = state }

    public mutating func next() -> UInt64 {
        let result = rotated(b &* 5, by: 7) &* 9
        let shifted = b << 17
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = rotated(d, by: 45)
        return result
    }

    /// Returns a uniform random number in 0..<1: the upper 53 bits of `next()`.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns true with the probability `share`, 0…1. Draws exactly one random number, whatever the probability.
    public mutating func happens(_ share: Double) -> Bool { unit() < share }
}

/// The generator that fills the states of other generators; by Steele, Lea and Flood. It computes each number by one
/// addition and one mixing step.
package struct SplitMix64: Sendable {
    package private(set) var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

private func rotated(_ word: UInt64, by count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
