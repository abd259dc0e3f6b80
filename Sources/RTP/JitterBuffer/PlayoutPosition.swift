internal import TenfourAudioCore

/// The position and the delay of playout while a talkspurt plays.
struct PlayoutPosition: BitwiseCopyable, Sendable {
    /// The position of the next frame to be played, in the talker's time.
    var position: FrameCount
    /// The duration of the packet that was decoded last or, at the start of a talkspurt, of its first packet.
    var frameCount: FrameCount
    /// The playout delay: the card's position less `position`.
    var delay: FrameCount
    /// Whether the talkspurt began much later than its target delay, and playout has not caught up yet.
    var hasBegunLate: Bool

    @_noAllocation @_noLocks
    init(position: FrameCount, frameCount: FrameCount, delay: FrameCount, hasBegunLate: Bool) {
        self.position = position
        self.frameCount = frameCount
        self.delay = delay
        self.hasBegunLate = hasBegunLate
    }
}
