internal import TenfourAudioCore
package import TenfourOpusCodec

/// The processor time that the decoders of a mixer may use in one pull. The budget measures the time of each decoder
/// call.
///
/// The slack is the time by which a pull may be late before the card runs dry. A frame is decoded with a neural model
/// only if four times the expected time of the frame fits into three quarters of the slack. If four times the measured
/// time of a frame does not fit, the model is suspended: for 10 s at first, then twice as long each time, up to 5
/// minutes.
///
/// It runs on the playback thread. Times are processor time of that thread, in nanoseconds.
package struct DecoderBudget: BitwiseCopyable, Sendable {
    /// The highest decoder complexity in use now. It is lower than `most` while a neural model is suspended.
    package private(set) var complexity: DecoderComplexity
    /// The number of times that a neural model was suspended because it was too slow.
    package private(set) var setbackCount = 0

    private let most: DecoderComplexity
    /// The time, in nanoseconds, by which a pull may be late before the card runs dry; nil on a simulated clock, where
    /// decoder calls are not timed.
    private let slack: Int?
    /// The expected processor time for a frame. It rises at once after a slower frame, and falls back to `measured`
    /// over about 250 pulls.
    private var expected: Costs
    /// The processor time for a frame, as `DecoderTrial` measured it before the session.
    private let measured: Costs
    /// The thread's processor time when the current pull began.
    private var start = 0
    /// The number of frames at 48 000 Hz until a suspended model is tried again.
    private var pausedFrames = 0
    /// The length of the last suspension, in frames at 48 000 Hz; 0 if no model was suspended yet.
    private var lastRest = 0

    package init(_ configuration: DecoderConfiguration) {
        complexity = configuration.complexity
        most = configuration.complexity
        slack = configuration.slack.map { Int($0 / .nanoseconds(1)) }
        measured = Costs(
            concealed: Int(configuration.costs.concealed / .nanoseconds(1)),
            decoded: Int(configuration.costs.decoded / .nanoseconds(1)))
        expected = measured
    }

    /// The processor times of concealing one lost frame and of decoding one received frame with enhancement, in
    /// nanoseconds.
    private struct Costs: BitwiseCopyable, Sendable {
        var concealed: Int
        var decoded: Int
    }

    /// Whether a neural model conceals lost frames now.
    var concealsByModel: Bool { @_noAllocation @_noLocks get { .plain < complexity } }

    /// Whether decoder calls must be timed.
    var measures: Bool { @_noAllocation @_noLocks get { slack != nil && .plain < most } }

    /// Begins a pull of `frames` at 48 000 Hz.
    @_noAllocation @_noLocks
    mutating func beginPull(_ frames: FrameCount, at now: Int) {
        start = now
        expected.concealed -= (expected.concealed - measured.concealed) / 256
        expected.decoded -= (expected.decoded - measured.decoded) / 256
        guard pausedFrames > 0 else { return }
        pausedFrames -= frames.rawValue
        guard pausedFrames <= 0 else { return }
        // Tries the suspended model again, because another program may have caused the slowness.
        complexity = most
        expected = measured
    }

    /// Returns the decoder complexity for concealing a lost frame at time `now`.
    @_noAllocation @_noLocks
    func complexityToConceal(at now: Int) -> DecoderComplexity {
        hasTime(for: expected.concealed, at: now) ? complexity : .plain
    }

    /// Returns the decoder complexity for decoding a received frame at time `now`.
    @_noAllocation @_noLocks
    func complexityToDecode(at now: Int) -> DecoderComplexity {
        .plc < complexity && !hasTime(for: expected.decoded, at: now) ? .plc : complexity
    }

    @_noAllocation @_noLocks
    private func hasTime(for expected: Int, at now: Int) -> Bool {
        guard let slack else { return true }
        return now - start + 4 * expected <= slack / 4 * 3
    }

    /// Records that a frame took `time` to conceal or decode with the decoder complexity `used`.
    @_noAllocation @_noLocks
    mutating func record(_ time: Int, with used: DecoderComplexity, isConcealed: Bool) {
        guard let slack, .plain < used else { return }
        if isConcealed {
            expected.concealed = max(expected.concealed, time)
        } else if .plc < used {
            expected.decoded = max(expected.decoded, time)
        }
        guard 4 * time > slack / 4 * 3 else { return }
        setbackCount += 1
        complexity = isConcealed || used < .lace ? .plain : .plc
        lastRest = lastRest == 0 ? Self.shortestRest : lastRest * 2
        if lastRest > Self.longestRest { lastRest = Self.longestRest }
        pausedFrames = lastRest
    }

    /// The length of the first suspension: 10 s, in frames at 48 000 Hz.
    private static var shortestRest: Int { @_noAllocation @_noLocks get { 480_000 } }
    /// The length of the longest suspension: 5 minutes, in frames at 48 000 Hz.
    private static var longestRest: Int { @_noAllocation @_noLocks get { 14_400_000 } }
}
