internal import CTimex
internal import CUV
internal import Glibc

/// The clock on the wall, which is set now and then.
public enum RealTimeClock {
    /// Since 1970, to the microsecond; `nanoseconds` are 0…999 999 999. The C function is `uv_gettimeofday`.
    public static var sinceEpoch: (seconds: Int64, nanoseconds: Int) {
        var time = uv_timeval64_t()
        unsafe uv_gettimeofday(&time)
        return (time.tv_sec, Int(time.tv_usec) * 1_000)
    }

    /// The same, in whole milliseconds.
    public static var milliseconds: UInt64 {
        let (seconds, nanoseconds) = sinceEpoch
        return UInt64(clamping: seconds) * 1_000 + UInt64(clamping: nanoseconds) / 1_000_000
    }

    /// For how long the machine has slept since it was started: CLOCK_BOOTTIME less CLOCK_MONOTONIC.
    public static var suspended: Duration {
        var (boot, monotonic) = (timespec(), timespec())
        unsafe clock_gettime(CLOCK_MONOTONIC, &monotonic)
        unsafe clock_gettime(CLOCK_BOOTTIME, &boot)
        return max(
            .seconds(boot.tv_sec - monotonic.tv_sec) + .nanoseconds(boot.tv_nsec - monotonic.tv_nsec), .zero)
    }

    /// Whether the kernel calls its clock synchronised: it has been told the time by somebody who knows it. A machine without a
    /// battery for its clock begins where it stopped. The C function is `adjtimex`.
    public static var isSet: Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: timexByteCount, alignment: 16) { state in
            unsafe state.initializeMemory(as: UInt8.self, repeating: 0)
            return unsafe adjtimex(OpaquePointer(state.baseAddress)) != timeError
        }
    }
}

/// No `struct timex` is larger; zeros ask and change nothing.
private let timexByteCount = 512
/// TIME_ERROR: the clock is not synchronised.
private let timeError: Int32 = 5
