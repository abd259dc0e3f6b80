internal import Glibc
internal import TenfourAudioCore

/// One band of an equaliser.
public struct EqualizerBand: Hashable, BitwiseCopyable, Sendable {
    public enum Shape: Hashable, BitwiseCopyable, Sendable {
        /// Raises or lowers the frequencies around the band's frequency.
        case peak
        /// Raises or lowers all frequencies below (`lowShelf`) or above (`highShelf`) the band's frequency.
        case lowShelf, highShelf
    }

    public var shape: Shape
    /// The centre frequency of a peak, or of a shelf's slope, in hertz. Limited to the range from 1 Hz to just below
    /// half the sample rate.
    public var frequency: Double
    /// The gain in decibels, limited to ±40; at 0 the band has no effect.
    public var gain: Double
    /// The quality, 0.1…100: frequency divided by bandwidth at half the gain in decibels.
    public var q: Double

    public init(_ shape: Shape = .peak, frequency: Double, gain: Double, q: Double = 0.707) {
        self.shape = shape
        self.frequency = frequency
        self.gain = gain
        self.q = q
    }
}

/// The coefficients of y = b0 x + b1 x₋₁ + b2 x₋₂ − a1 y₋₁ − a2 y₋₂, by the Audio EQ Cookbook (Robert Bristow-Johnson;
/// W3C note of 2021), with a0 = 1.
struct Biquad: BitwiseCopyable, Sendable {
    var b0, b1, b2, a1, a2: Double

    @_noAllocation @_noLocks
    init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
        (self.b0, self.b1, self.b2, self.a1, self.a2) = (b0, b1, b2, a1, a2)
    }

    init(_ band: EqualizerBand, _ rate: SampleRate) {
        let frequency = min(max(band.frequency, 1), Double(rate.hertz) * 0.499)
        let q = min(max(band.q, 0.1), 100)
        let amplitude = pow(10, min(max(band.gain, -40), 40) / 40)
        let angle = 2 * Double.pi * frequency / Double(rate.hertz)
        let (cosine, alpha) = (cos(angle), sin(angle) / (2 * q))
        let slope = 2 * amplitude.squareRoot() * alpha
        let (more, less) = (amplitude + 1, amplitude - 1)
        let a0: Double
        switch band.shape {
        case .peak:
            b0 = 1 + alpha * amplitude
            b1 = -2 * cosine
            b2 = 1 - alpha * amplitude
            a0 = 1 + alpha / amplitude
            a1 = -2 * cosine
            a2 = 1 - alpha / amplitude
        case .lowShelf:
            b0 = amplitude * (more - less * cosine + slope)
            b1 = 2 * amplitude * (less - more * cosine)
            b2 = amplitude * (more - less * cosine - slope)
            a0 = more + less * cosine + slope
            a1 = -2 * (less + more * cosine)
            a2 = more + less * cosine - slope
        case .highShelf:
            b0 = amplitude * (more + less * cosine + slope)
            b1 = -2 * amplitude * (less + more * cosine)
            b2 = amplitude * (more + less * cosine - slope)
            a0 = more - less * cosine + slope
            a1 = 2 * (less - more * cosine)
            a2 = more - less * cosine - slope
        }
        b0 /= a0
        b1 /= a0
        b2 /= a0
        a1 /= a0
        a2 /= a0
    }
}
