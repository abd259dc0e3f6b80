public import TenfourAudioCore

/// The settings of a delay.
public struct DelaySettings: Hashable, BitwiseCopyable, Sendable {
    /// The time in seconds, 0.001…2, after which audio is heard again.
    public var time = 0.3
    /// The gain, 0…0.95, with which each repetition is repeated.
    public var feedback = 0.0
    /// The proportion of delayed audio in the output, 0…1. At 0 audio passes unchanged.
    public var mix = 0.3

    public static let times = 0.001...2

    public init(time: Double = 0.3, feedback: Double = 0, mix: Double = 0.3) {
        self.time = time
        self.feedback = feedback
        self.mix = mix
    }

    /// Throws `.outOfRange` for the first value that is outside its range.
    public func check() throws(EffectError) {
        try Self.times.check(time, "delay", unit: "s")
        try (0.0...0.95).check(feedback, "feedback", unit: "")
        try (0.0...1).check(mix, "mix", unit: "")
    }
}

/// Repeats audio after a time, once or more often.
///
/// Changes take effect within 20 ms, without a click: a new time is cross-faded. For one thread at a time, which may be
/// an audio thread: `apply` neither allocates nor blocks. What is still to be repeated at the end of the audio is not
/// heard, or it is heard in the audio that follows.
public struct Delay: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat
    public private(set) var settings: DelaySettings

    /// A ring of the frames to be repeated.
    private var frames: FixedBuffer<Float>
    /// The index of the next frame in `frames`.
    private var place = 0
    /// The delay in frames, and the delay that it changes to.
    private var delay: Int
    private var nextDelay: Int
    /// The proportion of `nextDelay` in what is repeated.
    private var transition = Ramp(0)
    /// The gain of what enters the ring. After `clear` it rises from zero, since audio that begins in the middle of a wave
    /// would be repeated as a click.
    private var entry = Ramp(1)
    private var feedback: Ramp
    private var mix: Ramp

    /// Creates a delay. Throws `.outOfRange` if the settings cannot be used.
    public init(format: LPCMFormat, _ settings: DelaySettings = DelaySettings()) throws(EffectError) {
        try settings.check()
        self.init(checked: settings, format: format)
    }

    init(checked settings: DelaySettings, format: LPCMFormat) {
        self.format = format
        self.settings = settings
        let longest = Int(DelaySettings.times.upperBound * Double(format.rate.hertz)) + 1
        frames = FixedBuffer(repeating: 0, count: longest * format.channelCount)
        delay = Self.frameCount(settings, format.rate)
        nextDelay = delay
        feedback = Ramp(Float(settings.feedback))
        mix = Ramp(Float(settings.mix))
    }

    /// Changes the settings. Throws `.outOfRange` if they cannot be used.
    public mutating func set(_ settings: DelaySettings) throws(EffectError) {
        try settings.check()
        self.settings = settings
        feedback.begin(Float(settings.feedback), frameCount: format.rate.hertz / 50)
        mix.begin(Float(settings.mix), frameCount: format.rate.hertz / 50)
    }

    @_noAllocation @_noLocks
    private static func frameCount(_ settings: DelaySettings, _ rate: SampleRate) -> Int {
        max(Int(settings.time * Double(rate.hertz) + 0.5), 1)
    }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        let channelCount = format.channelCount
        let length = frames.count / channelCount
        beginTransition()
        var start = 0
        while start + channelCount <= samples.count {
            transition.advance()
            entry.advance()
            feedback.advance()
            mix.advance()
            let one = (place - delay + length) % length
            let other = (place - nextDelay + length) % length
            for channel in 0..<channelCount {
                var repeated = frames[one * channelCount + channel]
                if transition.value > 0 {
                    repeated += (frames[other * channelCount + channel] - repeated) * transition.value
                }
                let input = samples[start + channel]
                var kept = input * entry.value + repeated * feedback.value
                // Tiny numbers are slow, and a number that is none would be repeated for ever.
                if !kept.isFinite || kept.magnitude < 1e-15 { kept = 0 }
                frames[place * channelCount + channel] = kept
                samples[start + channel] = input * (1 - mix.value) + repeated * mix.value
            }
            place = place + 1 == length ? 0 : place + 1
            start += channelCount
            if transition.value >= 1 { endTransition() }
        }
    }

    public mutating func clear() {
        for index in 0..<frames.count { frames[index] = 0 }
        delay = Self.frameCount(settings, format.rate)
        nextDelay = delay
        transition = Ramp(0)
        entry = Ramp(0)
        entry.begin(1, frameCount: format.rate.hertz / 50)
        feedback = Ramp(feedback.target)
        mix = Ramp(mix.target)
    }

    /// Begins to change to the delay of the settings, unless a change is under way.
    @_noAllocation @_noLocks
    private mutating func beginTransition() {
        guard delay == nextDelay else { return }
        let wanted = Self.frameCount(settings, format.rate)
        guard wanted != delay else { return }
        nextDelay = wanted
        transition.begin(1, frameCount: format.rate.hertz / 50)
    }

    @_noAllocation @_noLocks
    private mutating func endTransition() {
        delay = nextDelay
        transition = Ramp(0)
    }
}
