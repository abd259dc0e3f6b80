public import TenfourAudioCore

/// What a playing card has to say when it is waited for.
public enum PlaybackEvent: Hashable, Sendable {
    /// It wants sound: write that much, then wait again.
    case demand(Demand)
    /// Something broke the sound. Nothing is to be done about it but to know; wait again.
    case interrupted(Interruption)
}

/// What a capturing card has to say when it is read.
public enum CaptureEvent: Hashable, Sendable {
    /// The samples asked for are there. Their first frame was at the microphone at `at`.
    case captured(at: Instant)
    /// Something broke the sound, and there are no samples in this turn. Read again.
    case interrupted(Interruption)
}

/// A wish of a playing card for sound.
public struct Demand: Hashable, Sendable {
    /// One period, always the same number, counted at the granted rate.
    public let frameCount: FrameCount
    /// When it was due. These moments are evenly spaced where demands are not, and never later than the demand. The clock of playout.
    public let requestedAt: Instant
    /// By how much `requestedAt` and all that follow have become later (above zero) or sooner than the demands before let expect,
    /// because the card takes its frames in another way, or more is queued: in frames at the granted rate. No drift of the card's clock, and no lost time.
    public let shift: FrameCount
    /// When the first frame of it will leave the card, by the card's own count: now and what is queued before it.
    /// The slope of this over `position` is the card's clock.
    public let playedAt: Instant
    /// How many frames this card has been given before, its own silence after an interruption included.
    public let position: FrameCount

    @_noAllocation @_noLocks
    init(frameCount: Int, requestedAt: Int64, shift: Int, playedAt: Int64, position: Int) {
        self.frameCount = FrameCount(frameCount)
        self.requestedAt = Instant(nanoseconds: requestedAt)
        self.shift = FrameCount(shift)
        self.playedAt = Instant(nanoseconds: playedAt)
        self.position = FrameCount(position)
    }
}

/// A break in the sound of a card.
public struct Interruption: Hashable, Sendable {
    public enum Cause: Hashable, Sendable {
        /// A playing card ran dry, or the queue of a capturing one ran over: we came too late, or a sound server took more at
        /// a time than before. It is started again.
        case xrun
        /// The machine slept. The card is started again.
        case suspended
        /// A playing card runs again after an underrun, a suspension or a loss, and `missed` is known now.
        case resumed
        /// More sound waited in a capturing card than is worth hearing; the older part was thrown away.
        case backlog
        /// The card is gone. Until it is back, turns go on at the pace of the clock: a playing card's sound is thrown
        /// away, a capturing one's is silence.
        case lost(CardLoss)
        /// The card that was lost is back.
        case reopened
    }

    public let cause: Cause
    /// How many frames of sound the card did not play, or did not capture, as far as it can be told: silence was in their place.
    /// Counted at the granted rate.
    public let missed: FrameCount
    /// By how many frames the demands of a playing card fell behind: as many as were missed, less by how much its queue has
    /// grown. What playout drops to be as far behind the network as before.
    public let behind: FrameCount

    @_noAllocation @_noLocks
    init(_ cause: Cause, missed: Int, behind: Int? = nil) {
        self.cause = cause
        self.missed = FrameCount(missed > 0 ? missed : 0)
        self.behind = behind.map { FrameCount($0) } ?? self.missed
    }
}

/// How often sound was broken since the card was opened.
public struct InterruptionCounts: Hashable, Sendable {
    public internal(set) var xruns = 0
    public internal(set) var suspensions = 0
    public internal(set) var backlogs = 0
    public internal(set) var losses = 0
    /// The sum of all that was missed.
    public internal(set) var missed = FrameCount.zero

    /// Counts it and hands it on.
    @_noAllocation @_noLocks
    mutating func note(_ interruption: Interruption) -> Interruption {
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
