public import TenfourAudioCore

/// Computes the speed of playout, relative to the card's clock, that keeps the delay at its target.
///
/// The measured drift is corrected directly. The remaining error is corrected in proportion to its size. If the delay
/// is too short, packets may be late by the error, so it is halved in half a second; the correction is at most two
/// thousandths, which is below four cents of pitch. If the delay is too long, it is at most a tenth of that, because a
/// long delay does no other harm. Removing and inserting whole pitch periods is left to time-scaling.
public struct RateControl: Sendable {
    /// The difference between the speed of playout and the card's clock, in parts per million; positive plays faster
    /// and shortens the delay. It changes in steps, because each change computes a new filter of the resampler.
    public private(set) var partsPerMillion: Float = 0

    /// The correction of a delay that is too long, in parts per million for each frame.
    private static var gain: Float { 250 / 48 }
    /// The correction of a delay that is too short, in parts per million for each frame.
    private static var deficitGain: Float { 1_400 / 48 }
    private static var strongest: Float { 200 }
    private static var limit: Float { 2_000 }
    private static var step: Float { 20 }
    /// The maximum delay error above zero that is ignored, in frames at 48 000 Hz: a quarter of a millisecond. An error
    /// below zero is not ignored, because each packet may then be late by it.
    private static var tolerance: Int { 12 }

    @_noAllocation @_noLocks
    public init() {}

    /// Updates the speed. `delayError` is the delay less its target; `drift` is `DriftEstimate.partsPerMillion`.
    @_noAllocation @_noLocks
    public mutating func update(delayError: FrameCount, driftPartsPerMillion drift: Float) {
        let error = (0...Self.tolerance).contains(delayError.rawValue) ? 0 : Float(delayError.rawValue)
        let correction = min(error * (error < 0 ? Self.deficitGain : Self.gain), Self.strongest)
        let wanted = min(max(correction - drift, -Self.limit), Self.limit)
        if abs(wanted - partsPerMillion) >= Self.step { partsPerMillion = Float(Int(wanted / Self.step)) * Self.step }
    }
}
