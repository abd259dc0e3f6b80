internal import TenfourAudioCore

/// Keeps a mix of several talkers within full scale. It delays audio by `lookAhead`, so that it can lower the gain in a
/// ramp before a peak is played, without a click.
///
/// The delay is the same for one talker and for several, so that nothing shifts when a second talker begins. A mix
/// below full scale passes unchanged, sample for sample. A single talker also passes unchanged and is clipped at full
/// scale, as a card would do.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
struct Limiter: ~Copyable, Sendable {
    /// The delay of the output, in frames.
    let delay: Int

    private let channelCount: Int
    /// A ring of the last `delay` frames.
    private var waiting: FixedBuffer<Float>
    /// The index of the oldest frame in `waiting`.
    private var place = 0
    /// The index of the oldest element of `gains`.
    private var gainPlace = 0
    /// The minimum of the gains that the frames of the last 10.5 ms need: the frames in the ring, and those of the hold
    /// time before.
    private var needed: SlidingMinimum
    /// The gain before it is averaged: it falls immediately with `needed`, and rises slowly.
    private var gain: Float = 1
    /// The last `delay` + 1 values of `gain`. Their mean is applied, so that the applied gain changes in a ramp. They
    /// are fixed-point numbers, so that their sum stays exact.
    private var gains: FixedBuffer<Int64>
    /// The sum of `gains`.
    private var sum: Int64
    /// The number of frames since `gain` returned to 1, at most `delay` + 1.
    private var restingCount: Int
    /// The rise of `gain` with each frame, as a proportion of its distance from 1.
    private let rise: Float

    static let lookAhead = Duration.microseconds(500)
    /// The time for which the gain stays down after a peak, so that it does not follow each wave of a low voice.
    private static let hold = Duration.milliseconds(10)
    /// The time constant with which the gain rises after the hold time: it rises by 63 % of its distance from 1 in this
    /// time.
    private static let release = Duration.milliseconds(100)
    /// The value 1 in the fixed-point format of `gains`.
    private static var one: Int64 { 1 << 32 }

    init(format: LPCMFormat) {
        delay = FrameCount(Self.lookAhead, at: format.rate).rawValue
        channelCount = format.channelCount
        waiting = FixedBuffer(repeating: 0, count: delay * format.channelCount)
        needed = SlidingMinimum(length: delay + 1 + FrameCount(Self.hold, at: format.rate).rawValue)
        gains = FixedBuffer(repeating: Self.one, count: delay + 1)
        sum = Self.one * Int64(delay + 1)
        restingCount = delay + 1
        rise = 1 / Float(FrameCount(Self.release, at: format.rate).rawValue)
    }

    /// Replaces `sound` (interleaved) with the limited audio, delayed by `delay` frames. `isMix` is true if `sound`
    /// contains more than one talker.
    @_noAllocation @_noLocks
    mutating func process(_ sound: inout MutableSpan<Float>, isMix: Bool) {
        let frameCount = sound.count / channelCount
        for frame in 0..<frameCount {
            let peak = exchange(frame, of: &sound)
            // Leaves the frame unchanged in the usual case: the gain is 1 and stays 1.
            if isAtRest, peak <= 1 || !isMix { continue }
            let gain = nextGain(isMix && peak > 1 ? 1 / peak : 1)
            for channel in 0..<channelCount { sound[frame * channelCount + channel] *= gain }
        }
        for index in sound.indices { sound[index] = min(max(sound[index], -1), 1) }
    }

    /// Whether the gain has been 1 for all frames in the ring.
    private var isAtRest: Bool { restingCount > delay && needed.isEmpty }

    /// Exchanges a frame for the oldest frame in the ring. Returns the peak of the new frame.
    @_noAllocation @_noLocks
    private mutating func exchange(_ frame: Int, of sound: inout MutableSpan<Float>) -> Float {
        var peak: Float = 0
        for channel in 0..<channelCount {
            let sample = sound[frame * channelCount + channel]
            peak = max(peak, abs(sample))
            sound[frame * channelCount + channel] = waiting[place * channelCount + channel]
            waiting[place * channelCount + channel] = sample
        }
        place = place + 1 == delay ? 0 : place + 1
        return peak
    }

    /// Returns the gain for the oldest frame, which leaves the ring now. `wanted` is the gain that the entering frame
    /// needs.
    @_noAllocation @_noLocks
    private mutating func nextGain(_ wanted: Float) -> Float {
        gain = min(needed.next(wanted), gain + (1 - gain) * rise)
        // Sets the gain to 1 if it is less than four thousandths of a decibel below 1, where a Float would stop rising.
        if gain > 0.999_5 { gain = 1 }
        restingCount = gain < 1 ? 0 : min(restingCount + 1, delay + 1)
        let fixed = Int64(Double(gain) * Double(Self.one))
        sum += fixed - gains[gainPlace]
        gains[gainPlace] = fixed
        gainPlace = gainPlace == delay ? 0 : gainPlace + 1
        return Float(Double(sum) / Double(Self.one * Int64(delay + 1)))
    }
}
