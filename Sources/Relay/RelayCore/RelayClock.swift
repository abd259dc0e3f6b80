internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The wall-clock time, extrapolated with the monotonic clock from the latest reading.
struct RelayClock: Sendable {
    private var clock: WallClock
    private var read: Instant

    /// Begins to extrapolate from `clock`, the wall-clock time at `now`.
    init(_ clock: WallClock, at now: Instant) {
        self.clock = clock
        read = now
    }

    func reading(at now: Instant) -> WallClock {
        let passed = max(now.nanoseconds &- read.nanoseconds, 0) / 1_000_000
        return WallClock(milliseconds: clock.sinceEpoch &+ UInt64(passed))
    }
}
