/// Detects a card whose position does not move.
struct StallDetector {
    /// The time without movement after which a card that has run is stalled, in nanoseconds: half a second or eight
    /// periods, whichever is longer.
    let timeout: Int64
    /// Whether the position has never moved. A sound server may begin late.
    private(set) var isStarting = true
    private var position = Int.min
    private var movedAt: Int64 = 0

    /// The time after which a card that has never run is stalled, in nanoseconds: 3 s. While nobody plays, PulseAudio's
    /// null sink renders 2 s of silence at a time, and takes no other audio meanwhile.
    private static var longestStart: Int64 { @_noAllocation @_noLocks get { 3 * nanosecondsPerSecond } }

    init(period: Int, rate: Int) { timeout = max(nanosecondsPerSecond / 2, nanoseconds(8 * period, at: rate)) }

    /// Records `position` at `now` (nanoseconds). Returns true if the position has not moved for longer than the
    /// timeout.
    @_noAllocation @_noLocks
    mutating func isStalled(at position: Int, now: Int64) -> Bool {
        if position != self.position {
            if self.position != Int.min { isStarting = false }
            self.position = position
            movedAt = now
        }
        let limit = isStarting && timeout < Self.longestStart ? Self.longestStart : timeout
        return now - movedAt > limit
    }

    /// Restarts the timeout. Call it after a time in which the position was not observed or not expected to move.
    @_noAllocation @_noLocks
    mutating func reset() { position = Int.min }
}
