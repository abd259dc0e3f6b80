internal import TenfourAudioCore

/// Converts samples to heights above a floor on a decibel scale: 20·log10 of the magnitude, full scale at 0 dB.
///
/// A height is an integer in units of 1/32 768 dB, so that sums of heights are exact and independent of the block
/// sizes. A height is exact to 0.0001 dB: the logarithm is three terms of the series in (m − 1) / (m + 1), fitted to
/// mantissas from √½ to √2 with an error below 3·10⁻⁸ in log2; the rest is rounding. Octaves are counted in integers,
/// so nothing can overflow: the largest height, of 2¹²⁸ above a floor of −120 dB, is below 30 million.
struct DecibelScale {
    /// The number of height units per decibel.
    static let unit = 32_768.0
    /// The range of `floor`, in decibels.
    static let floors: ClosedRange<Float> = -120 ... -1

    /// The level of height 0, in decibels: lower levels are shown as this level.
    let floor: Float

    /// The height of 0 dB above the floor.
    private let fullScale: Int32

    /// The number of height units per factor of two in amplitude (6.02 dB).
    private static let octave: Float = 6.020_599_9 * 32_768
    /// The integer part of `octave`.
    private static let wholeOctave: Int32 = 197_283
    /// The fractional part of `octave`.
    private static let restOfOctave: Float = 0.017_958
    /// The bit pattern of √½, the lowest mantissa.
    private static let leastMantissa: Int32 = 0x3F35_04F3
    /// The bit pattern of the largest finite `Float`. Infinity and NaN have larger bit patterns.
    private static let greatest: Int32 = 0x7F7F_FFFF
    /// 1.5 · 2²³: adding it to a float within ±2²² rounds that to an integer in the low bits of the sum.
    private static let rounder: Float = 12_582_912
    /// The bit pattern of `rounder`.
    private static let rounderBits: Int32 = 0x4B40_0000

    init(floor: Float) {
        self.floor = floor > Self.floors.lowerBound ? min(floor, Self.floors.upperBound) : Self.floors.lowerBound
        fullScale = Int32((-Double(self.floor) * Self.unit).rounded())
    }

    /// Returns the heights of eight samples. Infinity and NaN count as silence.
    @inline(__always)
    func heights(_ samples: SIMD8<Float>) -> SIMD8<Int32> {
        let bits = unsafe unsafeBitCast(samples, to: SIMD8<Int32>.self) & 0x7FFF_FFFF
        let exponent = (bits &- Self.leastMantissa) & ~0x7F_FFFF
        let mantissa = unsafe unsafeBitCast(bits &- exponent, to: SIMD8<Float>.self)
        let ratio = (mantissa - 1) / (mantissa + 1)
        let square = ratio * ratio
        let logarithm = ratio * (2.885_391_3 + square * (0.961_470_8 + square * 0.598_973_9))
        // The exponents, from −127 to 128. The exponent of a subnormal number is wrong, but such a number is far below
        // any floor.
        let octaves = exponent &>> 23
        let rest = logarithm * Self.octave + SIMD8<Float>(octaves) * Self.restOfOctave
        let rounded = unsafe unsafeBitCast(rest + Self.rounder, to: SIMD8<Int32>.self) &- Self.rounderBits
        let heights = octaves &* Self.wholeOctave &+ rounded &+ fullScale
        // Sets all bits for a sample that counts as silence: its height is negative, or the difference is negative
        // because the sample is infinite or NaN. The shift copies the sign bit.
        let isSilent = (heights | (SIMD8(repeating: Self.greatest) &- bits)) &>> 31
        return heights & ~isSilent
    }

    /// Converts a height to decibels.
    func level(_ height: Double) -> Float { floor + Float(height / Self.unit) }
}
