internal import Glibc
internal import RTP
internal import Sound

/// The clock on the wall, read once.
enum WallClock {
    /// What it showed at `Instant.start`, if it is `now` on the monotonic clock. The C function is `clock_gettime`.
    static func atStart(of now: Instant) -> NTPTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return NTPTime(secondsSince1970: Int64(time.tv_sec), nanoseconds: Int(time.tv_nsec)).advanced(by: .start - now)
    }
}
