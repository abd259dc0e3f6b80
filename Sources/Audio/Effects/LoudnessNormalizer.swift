public import TenfourAudioCore

/// Brings audio to a loudness while it plays: it measures what has passed, and changes the gain slowly.
///
/// The first three seconds after `beginItem` decide most: the gain then moves by up to 12 dB per second, later by
/// 1.5 dB per second. A quiet beginning is therefore louder than it will be later. Peaks above full scale are left to a
/// limiter behind it.
///
/// For one thread at a time, which may be an audio thread: `apply` neither allocates nor blocks.
public struct LoudnessNormalizer: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat
    /// The loudness to reach in LUFS, −40…−5; nil: audio passes unchanged.
    public var target: Double? {
        didSet { target = target.map { Self.targets.limited($0, or: Self.usualTarget) } }
    }
    /// The loudness of the item so far; nil until a block of 400 ms was above −70 LUFS.
    public var loudness: Double? { meter.integrated }
    /// The gain in decibels at the end of the present ramp.
    public private(set) var gain = 0.0

    private var meter: LoudnessMeter
    private var ramp = Ramp(1)

    /// The loudness to which ReplayGain 2.0 refers.
    public static var usualTarget: Double { -18 }
    public static var targets: ClosedRange<Double> { -40 ... -5 }
    /// The strongest amplification in decibels. Noise in a quiet recording would be amplified too.
    public static var maximumGain: Double { 15 }
    private static var minimumGain: Double { -40 }

    public init(format: LPCMFormat, target: Double? = nil) {
        self.format = format
        self.target = target.map { Self.targets.limited($0, or: Self.usualTarget) }
        meter = LoudnessMeter(format: format)
    }

    /// Forgets the measured loudness, before the next song. The gain stays until the song has been measured.
    public mutating func beginItem() { meter.clear() }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        guard target != nil || gain != 0 || ramp.isMoving else { return }
        let completed = measure(samples)
        if completed > 0 || target == nil && !ramp.isMoving { moveGain() }
        ramp.multiply(&samples, channelCount: format.channelCount)
    }

    /// Ends the present change of the gain. Keeps the measured loudness, since after a seek the item is the same.
    public mutating func clear() { ramp = Ramp(ramp.target) }

    /// Exempt from the compiler's allocation check, which takes the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private mutating func measure(_ samples: borrowing MutableSpan<Float>) -> Int {
        target == nil ? 0 : meter.append(samples.span)
    }

    /// Begins a ramp of 100 ms towards the gain that the measured loudness asks for.
    @_noAllocation @_noLocks
    private mutating func moveGain() {
        var wanted = gain
        if let target {
            guard let loudness = meter.integrated else { return }
            wanted = min(max(target - loudness, Self.minimumGain), Self.maximumGain)
        } else {
            wanted = 0
        }
        let isNew = target == nil || meter.stepCount <= 30
        let step = isNew ? 1.2 : 0.15
        gain = min(max(wanted, gain - step), gain + step)
        ramp.begin(Float(DecibelMath.amplitude(gain)), frameCount: format.rate.hertz / 10)
    }
}
