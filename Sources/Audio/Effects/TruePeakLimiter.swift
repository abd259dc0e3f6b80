public import TenfourAudioCore

/// Keeps the true peak, as ITU-R BS.1770 measures it, at or below a ceiling.
///
/// It looks ahead, so that the gain falls in a ramp that ends before a peak. All channels have one gain. Audio below the
/// ceiling passes unchanged, sample for sample. `latency` says how far it has read ahead: it adds no silence, neither
/// when it begins nor when it is bypassed, so every frame comes out once.
///
/// For one thread at a time, which may be an audio thread: `process` neither allocates nor blocks.
public struct TruePeakLimiter: ~Copyable, AudioEffect, Sendable {
    public let format: LPCMFormat
    public private(set) var settings: LimiterSettings
    /// Whether audio passes unchanged. The frames that were read ahead come first, and the gain returns to 1 as after a
    /// peak.
    public var isBypassed = false

    public var latency: Double { Double(waitingCount) }
    /// The number of frames that it reads ahead unless bypassed.
    public let lookAhead: Int

    /// A ring of the frames that were read ahead.
    private var waiting: FixedBuffer<Float>
    /// The index of the oldest frame in `waiting`.
    private var first = 0
    private var waitingCount = 0
    private var interpolator: TruePeakInterpolator
    /// The number of frames since a sample that can exceed the ceiling between samples.
    private var quietCount = 0
    /// The power that was interpolated with the frame before.
    private var lastPower: Float = 0
    private var gain: LimiterGain
    private var ceiling: Float = 1

    /// The distance in decibels that is kept from the ceiling. A gain that changes within the twelve samples behind an
    /// interpolated value lifts it by up to 0.01 dB.
    private static let margin = 0.03
    /// The time that the gain takes to fall.
    private static let attack = Duration.milliseconds(3)

    /// Creates a limiter. Throws `.outOfRange` if the settings cannot be used.
    public init(format: LPCMFormat, _ settings: LimiterSettings = LimiterSettings()) throws(EffectError) {
        try settings.check()
        self.init(checked: settings, format: format)
    }

    init(checked settings: LimiterSettings, format: LPCMFormat) {
        self.format = format
        self.settings = settings
        let attack = max(FrameCount(Self.attack, at: format.rate).rawValue, 1)
        lookAhead = attack + TruePeakInterpolator.delay
        waiting = FixedBuffer(repeating: 0, count: lookAhead * format.channelCount)
        interpolator = TruePeakInterpolator(channelCount: format.channelCount)
        gain = LimiterGain(attack: attack, format.rate)
        apply()
    }

    /// Changes the settings. The gain follows within the look-ahead. Throws `.outOfRange` if they cannot be used.
    public mutating func set(_ settings: LimiterSettings) throws(EffectError) {
        try settings.check()
        self.settings = settings
        apply()
    }

    private mutating func apply() {
        ceiling = Float(DecibelMath.amplitude(settings.ceiling - Self.margin))
        gain.setRelease(settings.release, format.rate)
    }

    /// The present change of level in decibels, 0 or below.
    public var gainChange: Double { DecibelMath.decibels(ofAmplitude: Double(gain.last)) }

    @_noAllocation @_noLocks
    public mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        let channels = format.channelCount
        let (frames, room) = (input.count / channels, output.count / channels)
        var (consumed, produced) = (0, 0)
        while produced < room {
            if isBypassed, waitingCount > 0 {
                let factor = gain.next(1)
                emit(into: &output, at: produced, factor)
                produced += 1
                continue
            }
            guard consumed < frames else { break }
            if isBypassed {
                let factor = gain.isAtRest ? 1 : gain.next(1)
                for channel in 0..<channels {
                    output[produced * channels + channel] = input[consumed * channels + channel] * factor
                }
                produced += 1
            } else {
                let needed = neededGain(input, at: consumed)
                let factor = gain.next(needed)
                if waitingCount == lookAhead {
                    emit(into: &output, at: produced, factor)
                    produced += 1
                }
                append(input, at: consumed)
            }
            consumed += 1
        }
        return EffectProgress(consumed: FrameCount(consumed), produced: FrameCount(produced))
    }

    @_noAllocation @_noLocks
    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        let count = min(waitingCount, output.count / format.channelCount)
        for frame in 0..<count {
            // The frames that were entered last still need their gain.
            let needed = isBypassed ? 1 : neededGainOfSilence()
            let factor = gain.next(needed)
            emit(into: &output, at: frame, factor)
        }
        return FrameCount(count)
    }

    public mutating func clear() {
        (first, waitingCount) = (0, 0)
        (quietCount, lastPower) = (0, 0)
        interpolator.clear()
        gain.clear()
    }

    /// Enters a frame, and returns the gain that it and the values between the frames before need.
    @_noAllocation @_noLocks
    private mutating func neededGain(_ input: Span<Float>, at frame: Int) -> Float {
        var (power, peak): (Float, Float) = (0, 0)
        let start = frame * format.channelCount
        for channel in 0..<format.channelCount {
            peak = max(peak, abs(Self.usable(input[start + channel])))
        }
        quietCount = peak * TruePeakInterpolator.maximumGain > ceiling ? 0 : quietCount + 1
        for channel in 0..<format.channelCount {
            let sample = Self.usable(input[start + channel])
            // Nothing between quiet samples exceeds the ceiling.
            if quietCount > TruePeakInterpolator.tapCount {
                interpolator.enter(sample, channel: channel)
            } else {
                power = max(power, interpolator.power(after: sample, channel: channel))
            }
        }
        return neededGain(power, peak)
    }

    /// Returns a sample that can be computed with: 0 for NaN, and at most 120 dB above full scale.
    @_noAllocation @_noLocks
    private static func usable(_ sample: Float) -> Float {
        if abs(sample) <= 1e6 { return sample }
        return sample > 0 ? 1e6 : sample < 0 ? -1e6 : 0
    }

    /// Enters a frame of silence.
    @_noAllocation @_noLocks
    private mutating func neededGainOfSilence() -> Float {
        var power: Float = 0
        for channel in 0..<format.channelCount {
            power = max(power, interpolator.power(after: 0, channel: channel))
        }
        quietCount += 1
        return neededGain(power, 0)
    }

    /// Returns the gain for the frame of six frames ago, which lies between the last interpolated values and those of
    /// `power`, and for the frame that was entered now. The latter gets it six frames early, and keeps it by the hold
    /// time.
    @_noAllocation @_noLocks
    private mutating func neededGain(_ power: Float, _ peak: Float) -> Float {
        interpolator.advance()
        let highest = max(max(power, lastPower), peak * peak)
        lastPower = power
        return highest > ceiling * ceiling ? ceiling / DecibelMath.squareRoot(highest) : 1
    }

    @_noAllocation @_noLocks
    private mutating func append(_ input: Span<Float>, at frame: Int) {
        let place = (first + waitingCount) % lookAhead
        for channel in 0..<format.channelCount {
            let sample = input[frame * format.channelCount + channel]
            waiting[place * format.channelCount + channel] = Self.usable(sample)
        }
        waitingCount += 1
    }

    /// Writes the oldest frame of the ring.
    @_noAllocation @_noLocks
    private mutating func emit(into output: inout MutableSpan<Float>, at frame: Int, _ gain: Float) {
        for channel in 0..<format.channelCount {
            output[frame * format.channelCount + channel] = waiting[first * format.channelCount + channel] * gain
        }
        first = first + 1 == lookAhead ? 0 : first + 1
        waitingCount -= 1
    }
}
