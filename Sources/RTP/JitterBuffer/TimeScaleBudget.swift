public import TenfourAudioCore

/// Limits the audio that may be removed or inserted, so that the tempo stays within ± 10 % in any second of speech. In
/// pauses nobody hears a tempo, so half of the audio may be changed.
public struct TimeScaleBudget: BitwiseCopyable, Sendable {
    /// The number of frames of speech for which one may be removed: the audio of eleven frames is then played in the
    /// time of ten.
    private static var share: Int { 11 }
    /// The number of frames of a pause for which one may be removed.
    private static var pauseShare: Int { 2 }
    /// The maximum budget that accumulates while nothing is changed: 30 ms, enough for two pitch periods of any length.
    private static var most: FrameCount { FrameCount(1_440) }
    /// The duration in which changes to speech are limited, in frames: one second of playout at a tempo that is 10 %
    /// faster.
    private static var second: FrameCount { FrameCount(52_800) }

    private struct Change: BitwiseCopyable {
        var at = FrameCount(-52_800)
        var frames = FrameCount(0)
    }

    private var elapsed = FrameCount(0)
    private var remainder = 0
    private var saved = FrameCount(0)
    private var savedInPause = FrameCount(0)
    private var isPause = false
    /// The changes in the last second of speech. A change is at least 2.5 ms long, so there are at most 40 changes.
    private var changes = InlineArray<40, Change>(repeating: Change())
    /// The index in `changes` at which the next change is recorded.
    private var next = 0

    @_noAllocation @_noLocks
    public init() {}

    /// The number of frames that may be changed now.
    public var allowance: FrameCount {
        @_noAllocation @_noLocks get {
            guard !isPause else { return savedInPause }
            var left = FrameCount(Self.second.rawValue / Self.share)
            for index in changes.indices where elapsed - changes[index].at < Self.second {
                left -= changes[index].frames
            }
            return max(min(saved, left), .zero)
        }
    }

    /// Adds the budget that `frames` of further audio allow. `isPause` is true if nobody speaks in this audio.
    @_noAllocation @_noLocks
    public mutating func add(_ frames: FrameCount, isPause: Bool) {
        elapsed += frames
        remainder += frames.rawValue
        saved = min(saved + FrameCount(remainder / Self.share), Self.most)
        remainder %= Self.share
        self.isPause = isPause
        savedInPause = isPause ? min(savedInPause + FrameCount(frames.rawValue / Self.pauseShare), Self.most) : .zero
    }

    @_noAllocation @_noLocks
    public mutating func use(_ frames: FrameCount) {
        guard frames > .zero else { return }
        if isPause {
            savedInPause -= frames
        } else {
            saved -= frames
            changes[next] = Change(at: elapsed, frames: frames)
            next = (next + 1) % 40
        }
    }
}
