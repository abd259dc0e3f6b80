/// Detects a PCM without a clock: `null` and `file` transfer audio as fast as requested.
///
/// Counts the frames in windows of ten seconds. In this time a real card is ahead of the clock by a few milliseconds at
/// most.
struct FreeRunDetector {
    /// The number of frames that a card may take at once: its buffer, and 0.25 s for a server behind it.
    let slack: Int
    let rate: Int
    private var windowStart: Int64 = 0
    private var windowFrames = Int.max

    init(buffer: Int, rate: Int) {
        slack = buffer + rate / 4
        self.rate = rate
    }

    /// Records the total of `frames` transferred until `now` (nanoseconds). Returns true if no clock limited the
    /// transfer.
    @_noAllocation @_noLocks
    mutating func isFreeRunning(at frames: Int, now: Int64) -> Bool {
        if frames < windowFrames || now - windowStart > 10 * nanosecondsPerSecond {
            windowFrames = frames
            windowStart = now
        }
        return frames - windowFrames > slack + TenfourSoundCard.frames(in: now - windowStart, at: rate)
    }

    /// Forgets all recorded frames. Call it after the card was stopped.
    @_noAllocation @_noLocks
    mutating func reset() { windowFrames = Int.max }
}
