public import TenfourAudioCore

/// By how much to play faster or slower than the card's clock, so that the depth stays what it should be.
///
/// The measured drift is fed forward; what is left of a wrong depth is worked off in proportion: by at most a thousandth where
/// it is too shallow, which is below two cents of pitch, and by a fifth of that where it is too deep, which costs nothing but
/// delay. Whole periods are the time-stretch's.
public struct RateControl: Sendable {
    /// Parts in a million; above zero plays faster and makes the buffer shallower. Changes in steps worth a change of
    /// the resampler's filter.
    public private(set) var partsPerMillion: Float = 0

    private static var gain: Float { 250 / 48 }
    private static var strongest: Float { 200 }
    private static var limit: Float { 1_000 }
    private static var step: Float { 20 }
    /// A quarter of a millisecond too deep or shallow is as good as right.
    private static var tolerance: Int { 12 }

    @_noAllocation @_noLocks
    public init() {}

    /// `delayError`: how much deeper the buffer is than it should be. `drift`: as DriftEstimate measures it.
    @_noAllocation @_noLocks
    public mutating func update(delayError: FrameCount, driftPartsPerMillion drift: Float) {
        let error = abs(delayError.rawValue) <= Self.tolerance ? 0 : Float(delayError.rawValue)
        let correction = min(error * Self.gain, Self.strongest)
        let wanted = min(max(correction - drift, -Self.limit), Self.limit)
        if abs(wanted - partsPerMillion) >= Self.step { partsPerMillion = Float(Int(wanted / Self.step)) * Self.step }
    }
}
