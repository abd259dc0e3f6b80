package import TenfourAudioCore

/// Paces audio by the monotonic clock if there is no card.
package struct PeriodTimer: BitwiseCopyable, Sendable {
    private let rate: SampleRate
    private var start: Instant?
    private var frames = 0

    /// The maximum lag: 200 ms. After a longer lag, caused for example by a stopped process or a blocked pipe, the
    /// missed frames are given up.
    private static var longestLag: Int64 { 200_000_000 }

    package init(rate: SampleRate) { self.rate = rate }

    /// The result of a wait: the time at which the requested frames were due, and the number of missed frames that were
    /// given up before this time.
    package struct Tick: BitwiseCopyable {
        package var due: Instant
        package var missed = FrameCount.zero
    }

    /// Sleeps until the next `frameCount` frames are due. The first frames are due immediately.
    @_noAllocation @_noLocks
    package mutating func wait(for frameCount: Int) -> Tick {
        let now = Instant(nanoseconds: PCMCalls.now())
        var missed = 0
        var due = now
        if let start {
            due = Instant(nanoseconds: start.nanoseconds + Int64(frames) * 1_000_000_000 / Int64(rate.hertz))
        }
        let lag = now.nanoseconds - due.nanoseconds
        if start == nil || lag > Self.longestLag {
            missed = Int(lag / 1_000 * Int64(rate.hertz) / 1_000_000)
            start = now
            frames = 0
            due = now
        }
        frames += frameCount
        if due > now { PCMCalls.sleep(until: due.nanoseconds) }
        return Tick(due: due, missed: FrameCount(missed))
    }
}
