/// The moments at which each period is demanded of a playing card, evenly, even where the card takes many frames at a time.
/// Nanoseconds of the monotonic clock; frames are counted from the card's opening.
///
/// The card takes the frame at `position` at `origin + position` at the earliest, and a period is due `lead` before the card
/// takes the end of it. Whatever moves this line at once, and is no drift of clocks, is told with the next demand (`takeShift`):
/// another quantum, another lead. After an underrun the schedule goes on as it was until the card shows where it is; how much later
/// that is was missed.
struct DemandSchedule {
    private let rate: Int
    private let period: Int
    private var line: Line?
    private var shift: Int64 = 0
    /// The schedule is that from before an interruption.
    private(set) var isProvisional = false

    /// How the card takes its frames, as measured while it runs without interruption.
    struct Line {
        /// When frame 0 was, or would have been, taken at the earliest.
        var origin: Int64
        /// How many frames it takes at a time.
        var quantum: Int
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
            // Clocks drift by less from one look to the next. What is longer is lost time, and left to the clock of playout.
            if size > Self.shortestStep, size < Self.longestStep { shift += moved }
        }
        self.line = line
    }

    /// When the period at `position` is due; nil before the card has run.
    @_noAllocation @_noLocks
    func due(_ position: Int) -> Int64? {
        guard let line else { return nil }
        return due(position, by: line)
    }

    /// When the period at `position` would be due by another line.
    @_noAllocation @_noLocks
    func due(_ position: Int, by line: Line) -> Int64 {
        start(of: line) + nanoseconds(position + period, at: rate)
    }

    /// By how many frames dues have become later (above zero) or sooner since this was last asked, but for the drift of clocks.
    @_noAllocation @_noLocks
    mutating func takeShift() -> Int {
        let taken = frames(in: shift, at: rate)
        shift = 0
        return taken
    }

    /// The card stopped. Until `resume` the schedule goes on as it was.
    @_noAllocation @_noLocks
    mutating func interrupt() { isProvisional = line != nil }

    /// The clock asks in place of the card: the period at `position` is due at `moment`.
    @_noAllocation @_noLocks
    mutating func pace(_ position: Int, at moment: Int64) {
        let lead = line?.lead ?? period
        let origin = moment - nanoseconds(position + period - lead, at: rate)
        line = Line(origin: origin, quantum: line?.quantum ?? 0, lead: lead)
        isProvisional = false
    }

    /// The card runs again. Returns how many frames it did not play, and by how many the schedule fell behind, which is less where
    /// the lead is longer now, and more where frames are taken sooner before they are played. A schedule that is ahead of the
    /// one before is a shift.
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
