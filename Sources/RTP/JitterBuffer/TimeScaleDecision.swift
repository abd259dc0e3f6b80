public import TenfourAudioCore

/// Decides how much sound is to be left out or put in, from how wrong the depth is and what the sound is.
///
/// A pause is the place for it, where nobody hears a tempo. In speech only that is done which cannot wait for one: a depth that is
/// much too shallow costs packets soon; one that is much too deep waits for a pause for a second, since it costs only delay.
public struct TimeScaleDecision: BitwiseCopyable, Sendable {
    /// Whether nobody speaks in the sound heard last.
    public private(set) var isPause = false

    /// How loud the talker is while talking: a mean square.
    public var loudness: Float { @_noAllocation @_noLocks get { level.loudest } }

    private var budget = TimeScaleBudget()
    private var level = TalkLevel()
    private var sincePause = FrameCount(0)
    /// A change that was begun in speech is brought to its end.
    private var isUnderWay = false
    /// Sound heard since the excess was last below `highestError`.
    private var timeWithHighError = FrameCount(0)

    /// 50 ms. A smaller lack waits for a pause. One of 15 ms does not where repair needs it.
    private static var lowestError: FrameCount { FrameCount(2_400) }
    private static var lowestErrorInRecovery: FrameCount { FrameCount(720) }
    /// 40 ms. A greater excess waits for a pause for 1 s of sound only, so that a stall of 100 ms is caught up within 3 s.
    private static var highestError: FrameCount { FrameCount(1_920) }
    private static var errorPatience: FrameCount { FrameCount(48_000) }
    /// 5 ms, of a voice of 200 Hz.
    private static var ordinaryPeriod: FrameCount { FrameCount(240) }
    /// Where none has come for so long, as in music, pauses are not waited for: 4 s.
    private static var patience: FrameCount { FrameCount(192_000) }

    @_noAllocation @_noLocks
    public init() {}

    /// So much sound, so loud (mean square), is what may be changed next.
    @_noAllocation @_noLocks
    public mutating func record(_ frames: FrameCount, meanSquare: Float) {
        isPause = level.isPause(meanSquare: meanSquare, lasting: frames)
        sincePause = isPause ? .zero : min(sincePause + frames, Self.patience)
        timeWithHighError = min(timeWithHighError + frames, Self.errorPatience)
        budget.earn(frames, isPause: isPause)
    }

    /// How much to leave out (above zero) or to put in (below), where the depth exceeds by `delayError` what it should be. Zero
    /// where it is not worth a cut. `includesRecovery`: a part of what it should be is for repair.
    @_noAllocation @_noLocks
    public mutating func change(for delayError: FrameCount, includesRecovery: Bool) -> FrameCount {
        if delayError <= Self.highestError { timeWithHighError = .zero }
        let lowestError = includesRecovery ? Self.lowestErrorInRecovery : Self.lowestError
        if timeWithHighError >= Self.errorPatience || delayError < .zero - lowestError { isUnderWay = true }
        if FrameCount(abs(delayError.rawValue)) < TimeScaler.shortest { isUnderWay = false }
        guard isPause || isUnderWay || sincePause >= Self.patience else { return .zero }
        // Saved up for a whole period, so that it can be cut where it is like the next.
        let (wanted, allowance) = (FrameCount(abs(delayError.rawValue)), budget.allowance)
        guard wanted >= TimeScaler.shortest, allowance >= min(wanted, Self.ordinaryPeriod) else { return .zero }
        let change = min(min(wanted, allowance), TimeScaler.longest)
        return delayError > .zero ? change : .zero - change
    }

    /// So much was left out or put in.
    @_noAllocation @_noLocks
    public mutating func spend(_ frames: FrameCount) { budget.spend(frames) }
}
