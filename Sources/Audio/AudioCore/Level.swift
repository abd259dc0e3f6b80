import Glibc

/// An audio level in decibels below full scale (dBFS): 0 is a full-scale square wave, `floor` is silence.
public struct Level: Hashable, Comparable, BitwiseCopyable, Sendable {
    public var decibels: Float

    public init(decibels: Float) { self.decibels = max(decibels, Self.floor.decibels) }

    /// Computes the root mean square of `samples`, full scale at ±1. An empty span is silence.
    public init(rootMeanSquareOf samples: Span<Float>) { self.init(meanSquare: meanSquare(of: samples)) }

    /// Converts a mean square, 0…1, to a level.
    public init(meanSquare: Float) {
        self.init(decibels: meanSquare > 0 ? 10 * log10(meanSquare) : -.infinity)
    }

    /// The lowest level, which stands for silence: −100 dBFS, below the quantisation noise of 16 bits.
    public static let floor = Level(unchecked: -100)

    private init(unchecked decibels: Float) { self.decibels = decibels }

    public static func < (left: Self, right: Self) -> Bool { left.decibels < right.decibels }
}

/// Returns the mean square of `samples`: 0…1 for full scale at ±1, 0 if there are no samples. May be called on an audio
/// thread.
@_noAllocation @_noLocks
public func meanSquare(of samples: Span<Float>) -> Float {
    // Uses eight independent sums, since each addition to a single sum would wait for the previous addition.
    var sums = SIMD8<Float>.zero
    var start = 0
    while start + 8 <= samples.count {
        let eight = SIMD8(
            samples[start], samples[start + 1], samples[start + 2], samples[start + 3], samples[start + 4],
            samples[start + 5], samples[start + 6], samples[start + 7])
        sums += eight * eight
        start += 8
    }
    var sum = sums.sum()
    for index in start..<samples.count { sum += samples[index] * samples[index] }
    return sum / Float(max(samples.count, 1))
}
