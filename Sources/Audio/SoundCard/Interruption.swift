public import TenfourAudioCore

/// An interruption of a card's audio.
public struct Interruption: Hashable, Sendable {
    public enum Cause: Hashable, Sendable {
        /// The queue of a playing card ran empty, or the buffer of a capturing card overflowed: our thread was late, or
        /// a sound server took more frames at a time. The card is restarted.
        case xrun
        /// The machine was suspended. The card is restarted.
        case suspended
        /// A playing card runs again after an underrun, a suspension or a loss, and `missed` is known now.
        case resumed
        /// Too many frames were waiting in a capturing card; the older part was discarded.
        case backlog
        /// The card is lost. Until it is open again, the monotonic clock paces events: a playing card's audio is
        /// discarded, and a capturing card delivers silence.
        case lost(CardLoss)
        /// The lost card is open again.
        case reopened
    }

    public let cause: Cause
    /// The number of frames, at the granted rate, that were not played or not captured, as far as known. Silence
    /// replaced them.
    public let missed: FrameCount
    /// The number of frames by which the schedule of a playing card's demands fell behind: the missed frames less the
    /// growth of the card's queue. Playout drops the same number to restore its delay.
    public let behind: FrameCount

    @_noAllocation @_noLocks
    init(_ cause: Cause, missed: Int, behind: Int? = nil) {
        self.cause = cause
        self.missed = FrameCount(missed > 0 ? missed : 0)
        self.behind = behind.map { FrameCount($0) } ?? self.missed
    }
}

/// The numbers of interruptions since the card was opened.
public struct InterruptionCounts: Hashable, Sendable {
    public internal(set) var xruns = 0
    public internal(set) var suspensions = 0
    public internal(set) var backlogs = 0
    public internal(set) var losses = 0
    /// The sum of all missed frames.
    public internal(set) var missed = FrameCount.zero

    /// Counts an interruption and returns it.
    @_noAllocation @_noLocks
    mutating func record(_ interruption: Interruption) -> Interruption {
        switch interruption.cause {
        case .xrun: xruns += 1
        case .suspended: suspensions += 1
        case .backlog: backlogs += 1
        case .lost: losses += 1
        case .reopened, .resumed: break
        }
        missed.rawValue += interruption.missed.rawValue
        return interruption
    }
}
