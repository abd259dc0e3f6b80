/// Detects a card whose position no longer moves.
struct StallDetector {
    /// The time without movement after which a card is stalled, in nanoseconds: half a second or eight periods,
    /// whichever is longer.
    let timeout: Int64
    private var position = Int.min
    private var movedAt: Int64 = 0

    init(period: Int, rate: Int) { timeout = max(nanosecondsPerSecond / 2, nanoseconds(8 * period, at: rate)) }

    /// Records `position` at `now` (nanoseconds). Returns true if the position has not moved for longer than the
    /// timeout.
    @_noAllocation @_noLocks
    mutating func isStalled(at position: Int, now: Int64) -> Bool {
        if position != self.position {
            self.position = position
            movedAt = now
        }
        return now - movedAt > timeout
    }

    /// Restarts the timeout. Call it after a time in which the position was not observed or not expected to move.
    @_noAllocation @_noLocks
    mutating func reset() { position = Int.min }
}
