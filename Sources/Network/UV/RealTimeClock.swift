internal import CLinux
internal import CUV
internal import Glibc

/// The wall clock, which may be set at any time.
public enum RealTimeClock {
    /// The time since 1970 with a resolution of 1 µs; `nanoseconds` are 0…999 999 999. The C function is
    /// `uv_gettimeofday`.
    public static var sinceEpoch: (seconds: Int64, nanoseconds: Int) {
        var time = uv_timeval64_t()
        unsafe uv_gettimeofday(&time)
        return (time.tv_sec, Int(time.tv_usec) * 1_000)
    }

    /// The time since 1970 in whole milliseconds.
    public static var milliseconds: UInt64 {
        let (seconds, nanoseconds) = sinceEpoch
        return UInt64(clamping: seconds) * 1_000 + UInt64(clamping: nanoseconds) / 1_000_000
    }

    /// The time for which the machine has been suspended since it was started: CLOCK_BOOTTIME less CLOCK_MONOTONIC.
    public static var suspended: Duration {
        var least: Duration?
        // A thread that is held back between two readings would take that for a sleep.
        for _ in 0..<3 {
            let before = reading(of: CLOCK_MONOTONIC)
            let difference = max(reading(of: CLOCK_BOOTTIME) - before, .zero)
            least = min(least ?? difference, difference)
            if reading(of: CLOCK_MONOTONIC) - before < .milliseconds(10) { break }
        }
        return least ?? .zero
    }

    private static func reading(of clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Whether the kernel considers its clock synchronised (NTP). A machine without a battery starts with the time of
    /// its last shutdown. The C function is `adjtimex`.
    public static var isSet: Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: timexByteCount, alignment: 16) { state in
            unsafe state.initializeMemory(as: UInt8.self, repeating: 0)
            return unsafe adjtimex(OpaquePointer(state.baseAddress)) != timeError
        }
    }
}

/// The space in bytes that is passed for a `struct timex`, which is not longer. The space is filled with zeros, so
/// `adjtimex` reads the state and changes nothing.
private let timexByteCount = 512
/// The result TIME_ERROR of `adjtimex`: the clock is not synchronised.
private let timeError: Int32 = 5
