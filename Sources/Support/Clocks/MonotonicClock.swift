internal import Glibc
package import TenfourAudioCore

/// CLOCK_MONOTONIC, which cards, libuv and input devices use, and which is never set. The C function is `clock_gettime`.
package enum MonotonicClock {
    /// The present instant. For any thread.
    package static var now: Instant { @_noAllocation @_noLocks get { Instant(nanoseconds: nanoseconds()) } }

    /// Exempt from the compiler's allocation check, which does not know the C function. Reviewed by hand: it neither
    /// allocates nor locks.
    @_semantics("no_performance_analysis")
    private static func nanoseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
