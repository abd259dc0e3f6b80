/// The schedule by which a playing card demands periods: evenly, even if the card takes many frames at a time. Times
/// are nanoseconds of the monotonic clock; frames are counted from opening.
///
/// The card takes the frame at `position` no earlier than `origin` plus the duration of `position` frames. A period is
/// due `lead` before the card takes the period's last frame. If the due times move for a reason other than clock drift,
/// such as a new quantum or lead, the shift is reported with the next demand (`consumeShift`). After an underrun the
/// schedule continues unchanged until the card shows its position again. Then a new schedule is computed, and the
/// difference between the old and the new one is the time missed.
struct DemandSchedule {
    private let rate: Int
    private let period: Int
    private var line: Line?
    private var shift: Int64 = 0
    /// Whether the card was interrupted and has not shown its position since. The schedule from before the interruption
    /// then continues.
    private(set) var isProvisional = false

    /// The card's timing, as measured while it runs.
    struct Line {
        /// The earliest time (nanoseconds) at which the card can have taken frame 0, computed from its later positions.
        var origin: Int64
        /// The number of frames that the card takes at a time.
        var quantum: Int
        /// The time from the demand of a period until the card takes the period's last frame, in frames.
        var lead: Int

        @_noAllocation @_noLocks
        init(origin: Int64, quantum: Int = 0, lead: Int) {
            self.origin = origin
            self.quantum = quantum
            self.lead = lead
        }
    }

    init(period: Int, rate: Int) {
        self.period = period
        self.rate = rate
    }

    @_noAllocation @_noLocks
    mutating func follow(_ line: Line) {
        if let before = self.line {
            let moved = start(of: line) - start(of: before)
            let size = moved < 0 ? -moved : moved
            // Reports only movements between these two limits. Clock drift moves the start by less than 2 ms between
            // two updates. A movement of more than 100 ms is lost time, which playout handles.
            if size > Self.shortestStep, size < Self.longestStep { shift += moved }
        }
        self.line = line
    }

    /// Returns the time (nanoseconds) at which the period at `position` is due; nil before the card has run.
    @_noAllocation @_noLocks
    func due(_ position: Int) -> Int64? {
        guard let line else { return nil }
        return due(position, by: line)
    }

    /// Returns the time (nanoseconds) at which the period at `position` would be due if the card's timing were `line`.
    @_noAllocation @_noLocks
    func due(_ position: Int, by line: Line) -> Int64 {
        start(of: line) + nanoseconds(position + period, at: rate)
    }

    /// Returns the number of frames by which due times have moved later (positive) or earlier since the last call,
    /// without clock drift.
    @_noAllocation @_noLocks
    mutating func consumeShift() -> Int {
        let taken = frames(in: shift, at: rate)
        shift = 0
        return taken
    }

    /// Records that the card stopped. Until `resume` the schedule continues unchanged.
    @_noAllocation @_noLocks
    mutating func interrupt() { isProvisional = line != nil }

    /// Sets the schedule for the time in which the monotonic clock replaces the card: the period at `position` is due
    /// at `moment`.
    @_noAllocation @_noLocks
    mutating func pace(_ position: Int, at moment: Int64) {
        let lead = line?.lead ?? period
        let origin = moment - nanoseconds(position + period - lead, at: rate)
        line = Line(origin: origin, quantum: line?.quantum ?? 0, lead: lead)
        isProvisional = false
    }

    /// Continues with a card that runs again. Returns the number of frames that it did not play, and the number by
    /// which the schedule fell behind: the missed frames less the growth of the queue (lead and quantum). If the
    /// schedule is early instead, the difference is reported as a shift.
    @_noAllocation @_noLocks
    mutating func resume(_ line: Line) -> (missed: Int, behind: Int) {
        let before = self.line ?? line
        self.line = line
        isProvisional = false
        let missed = frames(in: line.origin - before.origin, at: rate) + line.quantum - before.quantum
        let late = start(of: line) - start(of: before)
        if late < 0 { shift += late }
        let behind = frames(in: late, at: rate)
        return (missed > 0 ? missed : 0, behind > 0 ? behind : 0)
    }

    @_noAllocation @_noLocks
    private func start(of line: Line) -> Int64 { line.origin - nanoseconds(line.lead, at: rate) }

    private static var shortestStep: Int64 { @_noAllocation @_noLocks get { 2_000_000 } }
    private static var longestStep: Int64 { @_noAllocation @_noLocks get { 100_000_000 } }
}
