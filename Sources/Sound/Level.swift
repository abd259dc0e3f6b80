import Glibc

/// How loud sound is, in decibels below full scale (dBFS): 0 is a full-scale square wave, `floor` is silence.
public struct Level: Hashable, Comparable, BitwiseCopyable, Sendable {
    public var decibels: Float

    public init(decibels: Float) { self.decibels = max(decibels, Self.floor.decibels) }

    /// The root mean square of `samples`, ±1 being full scale. No samples are silence.
    public init(rootMeanSquareOf samples: Span<Float>) {
        var sum: Float = 0
        for index in samples.indices { sum += samples[index] * samples[index] }
        self.init(meanSquare: samples.isEmpty ? 0 : sum / Float(samples.count))
    }

    /// Of a mean square, 0…1.
    public init(meanSquare: Float) {
        self.init(decibels: meanSquare > 0 ? 10 * log10(meanSquare) : -.infinity)
    }

    /// −100 dBFS, below the noise of 16-bit sound.
    public static let floor = Level(unchecked: -100)

    private init(unchecked decibels: Float) { self.decibels = decibels }

    public static func < (left: Self, right: Self) -> Bool { left.decibels < right.decibels }
}
