internal import Glibc
package import TenfourAudioCore

/// CLOCK_MONOTONIC, which cards, libuv and input devices use.
package enum MonotonicClock {
    package static var now: Instant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
