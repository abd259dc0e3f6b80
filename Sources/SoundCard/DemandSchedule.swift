/// The moments at which a playing card that takes frame by frame would ask for each frame: the even clock behind demands that
/// come in bursts. Nanoseconds of the monotonic clock; frames are counted from the card's opening.
///
/// A frame is due when the queue, full to its target before, has room for the period that begins with it. A demand is never
/// made before it is due. After an underrun the schedule goes on as it was until the card shows where it is; how much later that is
/// was missed.
struct DemandSchedule {
    private let rate: Int
    private let period: Int
    /// When frame 0 was, or would have been, taken by the card.
    private var origin: Int64?
    /// The queue's target that the schedule counts with.
    private var target: Int
    /// The schedule is that from before an interruption.
    private(set) var isProvisional = false

    init(target: Int, period: Int, rate: Int) {
        self.target = target
        self.period = period
        self.rate = rate
    }

    /// Where the card is, as measured while it runs without interruption.
    @_noAllocation @_noLocks
    mutating func follow(origin: Int64, target: Int) {
        self.origin = origin
        self.target = target
    }

    /// When the frame at `position` is due; nil before the card has run.
    @_noAllocation @_noLocks
    func due(_ position: Int) -> Int64? {
        guard let origin else { return nil }
        return origin + nanoseconds(position + period - target, at: rate)
    }

    /// The card stopped. Until `resume` the schedule goes on as it was.
    @_noAllocation @_noLocks
    mutating func interrupt() { isProvisional = origin != nil }

    /// The clock asks in place of the card: the frame at `position` is due at `moment`.
    @_noAllocation @_noLocks
    mutating func pace(_ position: Int, at moment: Int64) {
        origin = moment - nanoseconds(position + period - target, at: rate)
        isProvisional = false
    }

    /// The card runs again, with its frame 0 at `origin` and a queue of `target`. Returns how many frames it did not play, and by
    /// how many the schedule fell behind, which is less where the queue is longer now.
    @_noAllocation @_noLocks
    mutating func resume(origin: Int64, target: Int) -> (missed: Int, behind: Int) {
        let before = (origin: self.origin ?? origin, target: self.target)
        self.origin = origin
        self.target = target
        isProvisional = false
        let missed = frames(in: origin - before.origin, at: rate)
        let behind = missed - (target - before.target)
        return (missed > 0 ? missed : 0, behind > 0 ? behind : 0)
    }
}
