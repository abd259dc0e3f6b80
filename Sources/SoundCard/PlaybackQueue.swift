/// Decides how much is queued to be played: enough for what the card takes at a time and for a thread that wakes late, and no
/// more. Only decides; `QuantumEstimator` measures, `PlaybackCard` performs.
///
/// A sound server takes a whole quantum at once. So after a wake-up late by the reserve a quantum must still be there: the queue
/// is a quantum, a period and a reserve of half a period, never less than was asked for. It is raised at once, and lowered
/// by 5 ms a second, but for a minute not to where it failed, and for twice as long where it failed again.
struct PlaybackQueue {
    /// The most that is queued, in frames.
    private(set) var target: Int
    /// The `avail_min` to ask for. PipeWire takes it for the delay that is asked of it, so it is a period. But its ALSA plugin
    /// hands over at most eight times as many frames in a cycle, so a long quantum needs a longer one.
    private(set) var availMin: Int

    private let asked: Int
    private let period: Int
    /// The most that may be asked for: the card's buffer less a period.
    private var limit: Int
    private let rate: Int
    /// What a thread that was late before is granted beside the reserve.
    private var allowance = 0
    private var leastAllowance = 0
    /// The quantum that a generous queue is enough for: at first the longest that PipeWire takes by itself.
    private var longestQuantum: Int
    /// When half of it is tried.
    private var nextEasing: Int64 = .min
    private var nextLowering: Int64 = .min
    private var failure: Failure?

    private struct Failure {
        var target: Int
        /// Until when (nanoseconds) the queue stays above `target`, and how long that was.
        var holdsUntil: Int64
        var hold: Int64
    }

    /// `asked` frames at least, in a card that wants `period` at a time and holds `buffer`.
    init(asked: Int, period: Int, buffer: Int, rate: Int) {
        limit = Self.limit(period: period, buffer: buffer)
        self.asked = asked < limit ? asked : limit
        target = self.asked
        self.period = period
        self.rate = rate
        longestQuantum = 2_048 * rate / 48_000
        availMin = period
    }

    /// The thread that writes has no real-time priority, so others make it late: half a period more is queued from the start.
    mutating func expectLateness() {
        leastAllowance = period / 2
        if allowance < leastAllowance { allowance = leastAllowance }
    }

    /// The card came back with another buffer.
    @_noAllocation @_noLocks
    mutating func fit(buffer: Int) {
        limit = Self.limit(period: period, buffer: buffer)
        if target > limit { target = limit }
    }

    @_noAllocation @_noLocks
    private static func limit(period: Int, buffer: Int) -> Int {
        buffer - period > period + period / 2 ? buffer - period : buffer
    }

    /// How much is queued while nothing is known of the quantum, or it has become longer: enough for 2048 frames at 48 kHz, twice
    /// as many each time that this was too little.
    var generous: Int { @_noAllocation @_noLocks get { needed(for: longestQuantum) } }

    /// The generous queue ran dry, too.
    @_noAllocation @_noLocks
    mutating func learningFailed() { if generous < limit { longestQuantum *= 2 } }

    /// Takes the target that the quantum needs, which has just been learnt from a generous queue.
    @_noAllocation @_noLocks
    mutating func settle(onQuantum quantum: Int, largestStep: Int, at now: Int64) {
        adaptAvailMin(toQuantum: quantum, largestStep: largestStep, at: now)
        let needed = needed(for: quantum)
        let floor = floor(at: now)
        target = needed > floor ? needed : floor
        nextLowering = now + nanosecondsPerSecond
    }

    @_noAllocation @_noLocks
    private mutating func adaptAvailMin(toQuantum quantum: Int, largestStep: Int, at now: Int64) {
        if largestStep >= Self.handovers * period {
            availMin = longAvailMin
        } else if availMin > period, quantum > 0, now >= nextLowering {
            availMin = period
        }
    }

    /// Where the queue may not be lowered to.
    @_noAllocation @_noLocks
    private func floor(at now: Int64) -> Int {
        guard let failure, now < failure.holdsUntil else { return 0 }
        return failure.target + period / 2 < limit ? failure.target + period / 2 : limit
    }

    /// The card takes `quantum` frames at a time and took `largestStep` at once, as far as is known at `now` (nanoseconds).
    @_noAllocation @_noLocks
    mutating func adapt(toQuantum quantum: Int, largestStep: Int, at now: Int64) {
        adaptAvailMin(toQuantum: quantum, largestStep: largestStep, at: now)
        if allowance > leastAllowance, now >= nextEasing {
            allowance = allowance / 2 > leastAllowance ? allowance / 2 : leastAllowance
            nextEasing = now + Self.minute
        }
        let needed = needed(for: quantum)
        if needed > target {
            target = needed
            nextLowering = now + nanosecondsPerSecond
        } else if needed < target, now >= nextLowering {
            let lowered = target - rate / 200
            nextLowering = now + nanosecondsPerSecond
            var floor = floor(at: now)
            if floor < needed { floor = needed }
            if floor < target { target = lowered > floor ? lowered : floor }
        }
    }

    /// The queue ran dry at `now`. `isLate`: our thread came too late for what was queued. Otherwise the card took more at a
    /// time than it had before, and how much that is shows only once enough is there: what the quantum needs is to be learnt
    /// from a generous queue.
    @_noAllocation @_noLocks
    mutating func underrun(quantum: Int, isLate: Bool, at now: Int64) {
        var hold = Self.minute
        if let failure, failure.target + period >= target, now < failure.holdsUntil + failure.hold {
            hold = 2 * failure.hold < 10 * Self.minute ? 2 * failure.hold : 10 * Self.minute
        }
        failure = Failure(target: target, holdsUntil: now + hold, hold: hold)
        nextLowering = now + 2 * nanosecondsPerSecond
        if isLate {
            let most = rate / 50
            nextEasing = now + Self.minute
            allowance = allowance + period / 2 < most ? allowance + period / 2 : most
            let needed = needed(for: quantum)
            if needed > target { target = needed }
        }
    }

    /// How often PipeWire's ALSA plugin hands over `avail_min` frames in a cycle, at the most.
    private static var handovers: Int { @_noAllocation @_noLocks get { 8 } }

    /// Enough for a quantum of 4096 frames.
    private var longAvailMin: Int {
        @_noAllocation @_noLocks get { period > 512 * rate / 48_000 ? period : 512 * rate / 48_000 }
    }

    @_noAllocation @_noLocks
    private func needed(for quantum: Int) -> Int {
        let forQuantum = quantum > 0 ? quantum + period + period / 2 + allowance : asked + allowance
        let needed = forQuantum > asked ? forQuantum : asked
        return needed < limit ? needed : limit
    }

    private static var minute: Int64 { @_noAllocation @_noLocks get { 60 * nanosecondsPerSecond } }
}
