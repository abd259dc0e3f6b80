public import TenfourAudioCore

/// The settings of a compressor.
public struct CompressorSettings: Hashable, BitwiseCopyable, Sendable {
    /// The level in decibels below full scale, −80…0, above which levels are lowered.
    public var threshold = -24.0
    /// The ratio, 1…100: above the threshold, an input that is `ratio` decibels louder is heard one decibel louder.
    public var ratio = 4.0
    /// The width in decibels, 0…40, of the range around the threshold in which the ratio sets in gradually.
    public var knee = 6.0
    /// The times in seconds, 0…5, in which the measured level rises and falls by 63 % of its distance.
    public var attack = 0.005
    public var release = 0.1
    /// The gain in decibels, −20…40, that is added to everything.
    public var makeUp = 0.0

    public init() {}

    /// Throws `.outOfRange` for the first value that is outside its range.
    public func check() throws(EffectError) {
        try (-80.0...0).check(threshold, "threshold", unit: "dB")
        try (1.0...100).check(ratio, "ratio", unit: "")
        try (0.0...40).check(knee, "knee", unit: "dB")
        try (0.0...5).check(attack, "attack", unit: "s")
        try (0.0...5).check(release, "release", unit: "s")
        try (-20.0...40).check(makeUp, "make-up gain", unit: "dB")
    }
}

/// Lowers the difference between loud and quiet audio. All channels have one gain, which follows the loudest of them.
///
/// A change of the settings takes effect within 20 ms, without a click. For one thread at a time, which may be an audio
/// thread: `apply` neither allocates nor blocks.
public struct Compressor: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat
    public private(set) var settings: CompressorSettings

    /// The measured level, as an amplitude.
    private var level = 0.0
    private var attackShare = 1.0
    private var releaseShare = 1.0
    private var threshold: Ramp
    /// 1 / ratio − 1: the change of the gain per decibel above the threshold.
    private var slope: Ramp
    private var knee: Ramp
    private var makeUp: Ramp
    /// The gain of the last frame in decibels.
    public private(set) var gain = 0.0

    /// Creates a compressor. Throws `.outOfRange` if the settings cannot be used.
    public init(format: LPCMFormat, _ settings: CompressorSettings = CompressorSettings()) throws(EffectError) {
        try settings.check()
        self.init(checked: settings, format: format)
    }

    init(checked settings: CompressorSettings, format: LPCMFormat) {
        self.format = format
        self.settings = settings
        threshold = Ramp(Float(settings.threshold))
        slope = Ramp(Float(1 / settings.ratio - 1))
        knee = Ramp(Float(settings.knee))
        makeUp = Ramp(Float(settings.makeUp))
        setTimes()
    }

    /// Changes the settings. Throws `.outOfRange` if they cannot be used.
    public mutating func set(_ settings: CompressorSettings) throws(EffectError) {
        try settings.check()
        self.settings = settings
        let frameCount = format.rate.hertz / 50
        threshold.begin(Float(settings.threshold), frameCount: frameCount)
        slope.begin(Float(1 / settings.ratio - 1), frameCount: frameCount)
        knee.begin(Float(settings.knee), frameCount: frameCount)
        makeUp.begin(Float(settings.makeUp), frameCount: frameCount)
        setTimes()
    }

    private mutating func setTimes() {
        attackShare = DecibelMath.share(seconds: settings.attack, rate: format.rate.hertz)
        releaseShare = DecibelMath.share(seconds: settings.release, rate: format.rate.hertz)
    }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        let channelCount = format.channelCount
        var start = 0
        while start + channelCount <= samples.count {
            var peak = 0.0
            for index in start..<start + channelCount where samples[index].isFinite {
                peak = max(peak, Double(samples[index].magnitude))
            }
            level += (peak - level) * (peak > level ? attackShare : releaseShare)
            advance()
            gain = nextGain()
            if gain != 0 {
                let factor = Float(DecibelMath.amplitude(gain))
                for index in start..<start + channelCount { samples[index] *= factor }
            }
            start += channelCount
        }
        if level < 1e-10 { level = 0 }
    }

    public mutating func clear() {
        (level, gain) = (0, 0)
        threshold = Ramp(threshold.target)
        slope = Ramp(slope.target)
        knee = Ramp(knee.target)
        makeUp = Ramp(makeUp.target)
    }

    @_noAllocation @_noLocks
    private mutating func advance() {
        threshold.advance()
        slope.advance()
        knee.advance()
        makeUp.advance()
    }

    /// The gain for the present level in decibels: a straight line above the knee, and a parabola in the knee.
    @_noAllocation @_noLocks
    private func nextGain() -> Double {
        let addition = Double(makeUp.value)
        guard level > 0, slope.value != 0 else { return addition }
        let half = Double(knee.value) / 2
        let excess = DecibelMath.decibels(ofAmplitude: level) - Double(threshold.value)
        if excess <= -half { return addition }
        if excess >= half { return addition + Double(slope.value) * excess }
        return addition + Double(slope.value) * (excess + half) * (excess + half) / (4 * half)
    }
}
