internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The time of day, counted on from when it was last read.
struct RelayClock: Sendable {
    private var clock: WallClock
    private var read: Instant

    /// `clock` is the time of day at `now`.
    init(_ clock: WallClock, at now: Instant) {
        self.clock = clock
        read = now
    }

    func reading(at now: Instant) -> WallClock {
        let passed = max(now.nanoseconds &- read.nanoseconds, 0) / 1_000_000
        return WallClock(milliseconds: clock.sinceEpoch &+ UInt64(passed))
    }
}
