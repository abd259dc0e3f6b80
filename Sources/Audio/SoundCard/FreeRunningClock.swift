/// Counts frames by the monotonic clock in place of a card. It restarts if it falls more than a second behind.
struct FreeRunningClock {
    let rate: Int
    private var origin: Int64
    private var passed = 0

    /// Creates a clock whose frame 0 is due at `now` (nanoseconds).
    @_noAllocation @_noLocks
    init(rate: Int, now: Int64) {
        self.rate = rate
        origin = now
    }

    /// Returns the time (nanoseconds) at which the next `frames` frames will have passed.
    @_noAllocation @_noLocks
    func due(_ frames: Int) -> Int64 { origin + nanoseconds(passed + frames, at: rate) }

    /// Counts `frames` frames as passed at `now` (nanoseconds). If the clock is then more than a second behind,
    /// restarts it and returns the number of frames by which it was behind; otherwise returns 0.
    @_noAllocation @_noLocks
    mutating func pass(_ frames: Int, now: Int64) -> Int {
        passed += frames
        if passed >= rate {
            // Adds whole seconds to the origin, so that the count stays small.
            origin += Int64(passed / rate) * nanosecondsPerSecond
            passed %= rate
        }
        let behind = now - due(0)
        guard behind > nanosecondsPerSecond else { return 0 }
        origin = now
        passed = 0
        return TenfourSoundCard.frames(in: behind, at: rate)
    }
}
