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

    /// The filter of the band.
    var design: FilterDesign {
        let shape: FilterDesign.Shape =
            switch self.shape {
            case .peak: .peak
            case .lowShelf: .lowShelf
            case .highShelf: .highShelf
            }
        return FilterDesign(shape, frequency: frequency, gain: gain, width: .q((0.1...100).limited(q, or: 0.707)))
    }
}
