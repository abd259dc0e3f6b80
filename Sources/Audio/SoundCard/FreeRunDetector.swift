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

extension PCMDevice {
    /// Writes silence to a running PCM whose queue is empty, at most four periods. Returns the number of frames written.
    /// `hasClock` is false if each period was taken at once: within an eighth of its duration.
    ///
    /// A PCM with a clock stops when its queue is empty, and a sound server needs a cycle of its own for each period.
    @_noAllocation @_noLocks
    func tryClock() -> (written: Int, hasClock: Bool) {
        var written = 0
        for _ in 0..<4 {
            let start = PCMCalls.now()
            let taken = writeSilence(frameCount: negotiated.period)
            guard taken > 0 else { return (written, true) }
            written += taken
            let seen = observe()
            let limit = nanoseconds(taken, at: negotiated.rate) / 8
            // Compared by pattern: `==` would need metadata in a build that is not optimized.
            guard seen.code >= 0, case .running = seen.state, seen.available >= negotiated.buffer,
                PCMCalls.now() - start < limit
            else { return (written, true) }
        }
        return (written, false)
    }
}
