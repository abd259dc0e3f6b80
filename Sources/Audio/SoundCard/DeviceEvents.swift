public import TenfourAudioCore

/// The result of waiting for a playing card.
public enum PlaybackEvent: Hashable, Sendable {
    /// Write the demanded number of frames, then wait again.
    case demand(Demand)
    /// Playback was interrupted. Take no action; wait again.
    case interrupted(Interruption)
    /// The card was started, and has not begun to play yet. Take no action; wait again.
    case starting
}

/// The result of reading a capturing card.
public enum CaptureEvent: Hashable, Sendable {
    /// The samples are complete. Their first frame was at the microphone at `at`.
    case captured(at: Instant)
    /// Capturing was interrupted, and there are no samples. Read again.
    case interrupted(Interruption)
}

/// A playing card's demand for audio.
public struct Demand: Hashable, Sendable {
    /// The number of frames to write: one period at the granted rate. It is the same in all demands.
    public let frameCount: FrameCount
    /// The time at which the demand was due; the demand itself may come later, but not earlier. These times are evenly
    /// spaced even if the demands are not. They are the clock of playout.
    public let requestedAt: Instant
    /// The number of frames by which this and all later values of `requestedAt` moved later (positive) or earlier than
    /// expected. They move if the card takes frames differently or if more frames are queued. Contains neither clock
    /// drift nor lost time. At the granted rate.
    public let shift: FrameCount
    /// The time at which the first demanded frame will leave the card, computed from the card's own count of queued
    /// frames. The slope of `playedAt` over `position` is the rate of the card's clock.
    public let playedAt: Instant
    /// The number of frames written to this card so far, including the silence that fills its queue at the start and
    /// after an interruption.
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
