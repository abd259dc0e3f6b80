/// A moment on a monotonic clock. The clock's origin is chosen by the caller: the machine's boot for libuv and ALSA,
/// `start` in tests.
public struct Instant: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// Nanoseconds since `start`. 64 bits are enough for 292 years.
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable public static var start: Self { Self(nanoseconds: 0) }

    @inlinable public static func == (left: Self, right: Self) -> Bool { left.nanoseconds == right.nanoseconds }
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (instant: Self, duration: Duration) -> Self {
        Self(nanoseconds: instant.nanoseconds &+ nanoseconds(in: duration))
    }

    public static func - (instant: Self, duration: Duration) -> Self {
        Self(nanoseconds: instant.nanoseconds &- nanoseconds(in: duration))
    }

    /// Returns the time from `earlier` to `later`; negative if `later` is the earlier moment.
    public static func - (later: Self, earlier: Self) -> Duration {
        .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
    }

    /// Returns `duration` in whole nanoseconds, limited to ±146 years, so that a sum or difference of two results
    /// cannot overflow.
    public static func nanoseconds(in duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let limit = Int64.max / 2
        guard seconds < limit / 1_000_000_000 else { return limit }
        guard seconds > -limit / 1_000_000_000 else { return -limit }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
