/// Nanoseconds per second.
var nanosecondsPerSecond: Int64 { @_noAllocation @_noLocks get { 1_000_000_000 } }

/// Returns the duration of `frames` in nanoseconds, rounded down. Whole seconds are computed separately, so that a
/// duration of years does not overflow.
@_noAllocation @_noLocks
func nanoseconds(_ frames: Int, at rate: Int) -> Int64 {
    Int64(frames / rate) * nanosecondsPerSecond + Int64(frames % rate) * nanosecondsPerSecond / Int64(rate)
}

/// Returns the number of frames in `time` nanoseconds, rounded to the nearest. `time` is limited to an hour against
/// overflow.
@_noAllocation @_noLocks
func frames(in time: Int64, at rate: Int) -> Int {
    let hour = 3_600 * nanosecondsPerSecond
    let time = time > hour ? hour : (time < -hour ? -hour : time)
    let half = time < 0 ? -nanosecondsPerSecond / 2 : nanosecondsPerSecond / 2
    return Int((time * Int64(rate) + half) / nanosecondsPerSecond)
}
