internal import CTimex
internal import Glibc
internal import Keys
internal import RTP
internal import Sound

/// The clock on the wall, read once.
extension NTPTime {
    /// What it showed at `Instant.start`, if it is `now` on the monotonic clock. The C function is `clock_gettime`.
    static func atStart(of now: Instant) -> NTPTime {
        let time = realTime()
        return NTPTime(secondsSince1970: Int64(time.tv_sec), nanoseconds: Int(time.tv_nsec)).advanced(by: .start - now)
    }
}

extension WallClock {
    /// The C function is `clock_gettime`.
    static var now: WallClock {
        let time = realTime()
        return WallClock(
            milliseconds: UInt64(clamping: time.tv_sec) * 1_000 + UInt64(clamping: time.tv_nsec) / 1_000_000)
    }

    /// Whether the kernel has been told the time by somebody who knows it: a machine without a battery for its clock begins
    /// where it stopped. The C function is `adjtimex`.
    static var isSet: Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: timexByteCount, alignment: 16) { state in
            unsafe state.initializeMemory(as: UInt8.self, repeating: 0)
            return unsafe adjtimex(OpaquePointer(state.baseAddress)) != timeError
        }
    }
}

private func realTime() -> timespec {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return time
}

/// No `struct timex` is larger; zeros ask and change nothing.
private let timexByteCount = 512
/// TIME_ERROR: the clock is not synchronised.
private let timeError: Int32 = 5
