private import Glibc

/// The clock that measures the processor time of the calling thread.
package enum ThreadTime {
    /// Returns the processor time of the calling thread since its start, in nanoseconds (`CLOCK_THREAD_CPUTIME_ID`).
    /// Any thread may call it.
    @_noAllocation @_noLocks
    package static func processor() -> Int { callClock() }
}

@_semantics("no_performance_analysis")
private func callClock() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
