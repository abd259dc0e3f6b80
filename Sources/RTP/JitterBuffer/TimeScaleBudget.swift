public import TenfourAudioCore

/// How much may be cut from sound, or put in, without its tempo leaving ± 10 % in any second of speech. In pauses, where
/// nobody hears a tempo, a half may go.
public struct TimeScaleBudget: BitwiseCopyable, Sendable {
    /// Of eleven frames one may be left out: ten sound in the time of eleven.
    private static var share: Int { 11 }
    private static var pauseShare: Int { 2 }
    /// What is not used up is not saved for long: two of the longest periods.
    private static var most: FrameCount { FrameCount(1_440) }
    /// What sounds in a second, a tenth faster.
    private static var second: FrameCount { FrameCount(52_800) }

    private struct Expense: BitwiseCopyable {
        var at = FrameCount(-52_800)
        var frames = FrameCount(0)
    }

    private var heard = FrameCount(0)
    private var remainder = 0
    private var saved = FrameCount(0)
    private var savedInPause = FrameCount(0)
    private var isPause = false
    /// Those of the last second of speech: no change is smaller than 2.5 ms, so there are no more.
    private var expenses = InlineArray<40, Expense>(repeating: Expense())
    private var next = 0

    @_noAllocation @_noLocks
    public init() {}

    /// What may be changed now.
    public var allowance: FrameCount {
        @_noAllocation @_noLocks get {
            guard !isPause else { return savedInPause }
            var left = FrameCount(Self.second.rawValue / Self.share)
            for index in expenses.indices where heard - expenses[index].at < Self.second {
                left -= expenses[index].frames
            }
            return max(min(saved, left), .zero)
        }
    }

    /// So much sound is there to be changed; `isPause` says that nobody speaks in it.
    @_noAllocation @_noLocks
    public mutating func earn(_ frames: FrameCount, isPause: Bool) {
        heard += frames
        remainder += frames.rawValue
        saved = min(saved + FrameCount(remainder / Self.share), Self.most)
        remainder %= Self.share
        self.isPause = isPause
        savedInPause = isPause ? min(savedInPause + FrameCount(frames.rawValue / Self.pauseShare), Self.most) : .zero
    }

    @_noAllocation @_noLocks
    public mutating func spend(_ frames: FrameCount) {
        guard frames > .zero else { return }
        if isPause {
            savedInPause -= frames
        } else {
            saved -= frames
            expenses[next] = Expense(at: heard, frames: frames)
            next = (next + 1) % 40
        }
    }
}
