internal import Sound

/// Samples to heights above a floor, on a scale of decibels: 20·log10 of the magnitude, full scale being 0 dB.
///
/// A height is a whole number of 32 768ths of a decibel. So sums of heights are exact and do not depend on how the sound was cut
/// into blocks. A height is right to 0.0001 dB: the logarithm is three terms of the series in (m − 1) / (m + 1), fitted to the
/// mantissas from √½ to √2 with an error below 3·10⁻⁸ in log2, and the rest is rounding.
struct DecibelScale {
    /// Heights in a decibel.
    static let unit = 32_768.0
    /// What lies below is taken for as much, in decibels.
    static let floors: ClosedRange<Float> = -120 ... -1

    let floor: Float

    /// Of a factor of two, in heights.
    private static let octave: Float = 6.020_599_9 * 32_768
    /// Of √½, and of 1 024: 60 dB above full scale.
    private static let leastMantissa: Int32 = 0x3F35_04F3
    private static let loudest: Int32 = 0x4480_0000
    /// 2²³: a float that is added to it is rounded to a whole number, which stands in the last bits of the sum.
    private static let rounder: Float = 8_388_608
    private static let rounderBits: Int32 = 0x4B00_0000

    init(floor: Float) {
        self.floor = floor > Self.floors.lowerBound ? min(floor, Self.floors.upperBound) : Self.floors.lowerBound
    }

    /// Of eight samples. What is no number, or beyond 60 dB above full scale, counts as silence.
    @inline(__always)
    func heights(_ samples: SIMD8<Float>) -> SIMD8<Int32> {
        let bits = unsafe unsafeBitCast(samples, to: SIMD8<Int32>.self) & 0x7FFF_FFFF
        let exponent = (bits &- Self.leastMantissa) & ~0x7F_FFFF
        let mantissa = unsafe unsafeBitCast(bits &- exponent, to: SIMD8<Float>.self)
        let ratio = (mantissa - 1) / (mantissa + 1)
        let square = ratio * ratio
        let logarithm = ratio * (2.885_391_3 + square * (0.961_470_8 + square * 0.598_973_9))
        let octaves = SIMD8<Float>(exponent) * Float(0x1p-23)
        let heights = octaves * Self.octave + (logarithm * Self.octave - floor * Float(Self.unit))
        let rounded = unsafe unsafeBitCast(heights + Self.rounder, to: SIMD8<Int32>.self) &- Self.rounderBits
        // Where one of the two is negative, all bits of this are set.
        let isSilent = (rounded | (SIMD8(repeating: Self.loudest) &- bits)) &>> 31
        return rounded & ~isSilent
    }

    /// In decibels.
    func level(_ height: Double) -> Float { floor + Float(height / Self.unit) }
}
