public import TenfourAudioCore

/// Decides how much audio to remove or insert, from the delay error and from the audio's level.
///
/// Pauses are changed first, because nobody hears a tempo in a pause. Speech is changed only if the change cannot wait
/// for a pause. If the delay is much too short, speech is changed immediately, because packets will be late. If the
/// delay is much too long, speech is changed after a second without a pause, or immediately if the talkspurt was sent
/// late. So a talkspurt that begins with 150 ms from before the microphone was opened has its normal delay within 2 s.
public struct TimeScaleDecision: BitwiseCopyable, Sendable {
    /// Whether nobody speaks in the audio recorded last.
    public private(set) var isPause = false

    /// The loudness of the talker's speech, as a mean square.
    public var loudness: Float { @_noAllocation @_noLocks get { level.loudest } }

    private var budget = TimeScaleBudget()
    private var level = TalkLevel()
    private var sincePause = FrameCount(0)
    /// Whether a time-scaling that began during speech is still going on.
    private var isCatchingUp = false
    /// The duration of audio recorded since the delay error was last within `highestError`, at most `errorTimeout`.
    private var timeWithHighError = FrameCount(0)

    /// The maximum delay error below zero that can wait for a pause: 50 ms too short.
    private static var lowestError: FrameCount { FrameCount(2_400) }
    /// The maximum delay error below zero that can wait for a pause if the target delay includes time for recovery: 15
    /// ms too short.
    private static var lowestErrorInRecovery: FrameCount { FrameCount(720) }
    /// The maximum delay error above zero that can wait for a pause: 40 ms too long. A greater error is corrected after
    /// at most `errorTimeout`, even without a pause. So a stall of 100 ms is caught up within 3 s.
    static var highestError: FrameCount { @_noAllocation @_noLocks get { FrameCount(1_920) } }
    /// The duration of audio for which an error above `highestError` waits for a pause: 1 s.
    private static var errorTimeout: FrameCount { FrameCount(48_000) }
    /// The budget, in frames, for which a change waits: 5 ms, the pitch period of a voice of 200 Hz.
    private static var ordinaryPeriod: FrameCount { FrameCount(240) }
    /// The time without a pause, as in music, after which changes do not wait for pauses: 4 s.
    private static var pauseTimeout: FrameCount { FrameCount(192_000) }

    @_noAllocation @_noLocks
    public init() {}

    /// Records the audio that may be changed next, with its mean square.
    @_noAllocation @_noLocks
    public mutating func record(_ frames: FrameCount, meanSquare: Float) {
        isPause = level.isPause(meanSquare: meanSquare, lasting: frames)
        sincePause = isPause ? .zero : min(sincePause + frames, Self.pauseTimeout)
        timeWithHighError = min(timeWithHighError + frames, Self.errorTimeout)
        budget.add(frames, isPause: isPause)
    }

    /// Returns the number of frames to remove (positive) or to insert (negative), when the delay exceeds its target by
    /// `delayError`. Returns zero if nothing is to be changed now. `includesRecovery` is true if the target delay
    /// includes time for recovery. `hasBegunLate` is true if the talkspurt began much later than its target
    /// delay, and the delay has not reached the target yet.
    @_noAllocation @_noLocks
    public mutating func change(
        for delayError: FrameCount, includesRecovery: Bool, hasBegunLate: Bool = false
    ) -> FrameCount {
        if delayError <= Self.highestError { timeWithHighError = .zero }
        let lowestError = includesRecovery ? Self.lowestErrorInRecovery : Self.lowestError
        let cannotWait = hasBegunLate && delayError > Self.highestError
        if cannotWait || timeWithHighError >= Self.errorTimeout || delayError < .zero - lowestError {
            isCatchingUp = true
        }
        if FrameCount(abs(delayError.rawValue)) < TimeScaler.shortest { isCatchingUp = false }
        guard isPause || isCatchingUp || sincePause >= Self.pauseTimeout else { return .zero }
        // Waits until the budget allows a whole pitch period, so that two similar periods are joined.
        let (wanted, allowance) = (FrameCount(abs(delayError.rawValue)), budget.allowance)
        guard wanted >= TimeScaler.shortest, allowance >= min(wanted, Self.ordinaryPeriod) else { return .zero }
        let change = min(min(wanted, allowance), TimeScaler.longest)
        return delayError > .zero ? change : .zero - change
    }

    /// Records that `frames` were removed or inserted.
    @_noAllocation @_noLocks
    public mutating func use(_ frames: FrameCount) { budget.use(frames) }
}
