internal import Glibc
public import TenfourAudioCore

/// One filter by what it does: a shape, a frequency, a gain and a width. `BiquadCoefficients` makes it a filter.
///
/// The shapes are those of the Audio EQ Cookbook (Robert Bristow-Johnson; W3C note of 2021), and two of first order.
public struct FilterDesign: Hashable, BitwiseCopyable, Sendable {
    public enum Shape: Hashable, BitwiseCopyable, CaseIterable, Sendable {
        /// Lets pass what is below or above the frequency; 12 dB per octave.
        case lowPass, highPass
        /// Lets pass what is around the frequency, with 0 dB at the frequency.
        case bandPass
        /// Lets pass what is around the frequency, with slopes that do not change with the width: a gain of Q at the
        /// frequency.
        case bandPassSkirt
        /// Removes the frequency.
        case notch
        /// Changes the phase only.
        case allPass
        /// Raises or lowers what is around the frequency.
        case peak
        /// Raises or lowers what is below or above the frequency.
        case lowShelf, highShelf
        /// Lets pass what is below or above the frequency; 6 dB per octave. These have no width.
        case lowPassFirstOrder, highPassFirstOrder
    }

    /// How wide a filter is. Any of the three can be used with any shape of second order.
    public enum Width: Hashable, BitwiseCopyable, Sendable {
        /// The quality, 0.01…100: the frequency divided by the bandwidth. For a peak, the bandwidth is measured at half
        /// the gain in decibels.
        case q(Double)
        /// The bandwidth in octaves, 0.01…10.
        case octaves(Double)
        /// The slope of a shelf, 0.1…1: 1 is the steepest that does not overshoot.
        case slope(Double)
    }

    public var shape: Shape
    /// The frequency in hertz: the corner of a pass filter (−3 dB at a Q of 0.707), the centre of the others.
    public var frequency: Double
    /// The gain in decibels, −40…40. Only peaks and shelves have one.
    public var gain: Double
    public var width: Width

    /// The width of a Butterworth filter of second order: the flattest pass band.
    public static let flattest = Width.q(0.5.squareRoot())

    public static let frequencies = 1.0...96_000
    public static let gains = -40.0...40
    public static let qualities = 0.01...100
    public static let bandwidths = 0.01...10
    public static let slopes = 0.1...1

    public init(_ shape: Shape, frequency: Double, gain: Double = 0, width: Width = Self.flattest) {
        self.shape = shape
        self.frequency = frequency
        self.gain = gain
        self.width = width
    }

    /// Returns the sections of a Butterworth low-pass or high-pass filter of any order: 6 dB per octave and order, and
    /// −3 dB at `frequency`. `order` is limited to 1…16.
    public static func butterworth(highPass: Bool, order: Int, frequency: Double) -> [FilterDesign] {
        let order = min(max(order, 1), 16)
        var sections = (0..<order / 2).map { index in
            // The poles lie on a circle; each pair has its own quality.
            let angle = Double.pi * Double(2 * index + 1) / Double(2 * order)
            return FilterDesign(
                highPass ? .highPass : .lowPass, frequency: frequency, width: .q(1 / (2 * sin(angle))))
        }
        if order % 2 == 1 {
            sections.append(
                FilterDesign(highPass ? .highPassFirstOrder : .lowPassFirstOrder, frequency: frequency))
        }
        return sections
    }

    /// Throws `.outOfRange` for the first value that is outside its range at this sample rate.
    public func check(at rate: SampleRate) throws(EffectError) {
        let highest = min(Self.frequencies.upperBound, Self.highest(at: rate))
        try (Self.frequencies.lowerBound...highest).check(frequency, "frequency", unit: "Hz")
        try checkWithoutRate()
    }

    /// Throws `.outOfRange` for the first value that is outside its range at every sample rate.
    func checkWithoutRate() throws(EffectError) {
        try Self.frequencies.check(frequency, "frequency", unit: "Hz")
        try Self.gains.check(gain, "gain", unit: "dB")
        switch width {
        case .q(let q): try Self.qualities.check(q, "quality", unit: "")
        case .octaves(let octaves): try Self.bandwidths.check(octaves, "bandwidth", unit: "octaves")
        case .slope(let slope): try Self.slopes.check(slope, "slope", unit: "")
        }
    }

    /// Returns the design with each value limited to its range at this sample rate.
    func limited(at rate: SampleRate) -> FilterDesign {
        let highest = min(Self.frequencies.upperBound, Self.highest(at: rate))
        var design = self
        design.frequency = (Self.frequencies.lowerBound...highest).limited(frequency, or: min(1_000, highest))
        design.gain = Self.gains.limited(gain, or: 0)
        switch width {
        case .q(let q): design.width = .q(Self.qualities.limited(q, or: 0.707))
        case .octaves(let octaves): design.width = .octaves(Self.bandwidths.limited(octaves, or: 1))
        case .slope(let slope): design.width = .slope(Self.slopes.limited(slope, or: 1))
        }
        return design
    }

    /// The highest frequency of a filter: just below half the sample rate.
    private static func highest(at rate: SampleRate) -> Double { max(Double(rate.hertz) * 0.499, 2) }
}
