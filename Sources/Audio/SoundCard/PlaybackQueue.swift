/// Decides how much is queued to be played: enough for what the card takes at a time and for a thread that wakes late, and no
/// more. Only decides; `QuantumEstimator` measures, `PlaybackCard` performs.
///
/// A sound server takes a whole quantum at once. The quantum that it takes next is written period by period, evenly, and its last
/// period is demanded `lead` before the server takes it: a period to write it and a reserve of half a period. So the queue is
/// the lead when the server has just taken, and lead and quantum before it takes again. The lead is raised by half a period
/// after an underrun that the quantum does not explain, and lowered by half of that each minute.
struct PlaybackQueue {
    /// By how much a period is demanded before the card takes the end of it, in frames.
    private(set) var lead: Int
    /// The `avail_min` to ask for. PipeWire takes it for the delay that is asked of it, so it is a period. But its ALSA plugin
    /// hands over at most eight times as many frames in a cycle, so a long quantum needs a longer one.
    private(set) var availMin: Int
    private var shortestAvailMin: Int

    private let asked: Int
    private let period: Int
    /// The most that may be queued: the card's buffer less a period.
    private var limit: Int
    private let rate: Int
    /// What the card takes at a time, as far as is known.
    private var quantum = 0
    /// The most that it took at once, lately or since the last underrun.
    private var largestStep = 0
    /// What a thread that was late before is granted beside the reserve.
    private var allowance = 0
    private var leastAllowance = 0
    /// When half of it is tried (nanoseconds).
    private var nextEasing: Int64 = .min
    /// The quantum that a generous queue is enough for: at first the longest that PipeWire takes by itself.
    private var longestQuantum: Int
    /// When `avail_min` may be short again.
    private var nextShortening: Int64 = .min
    private var failure: Failure?

    private struct Failure {
        /// What was known of the quantum then; nil once the queue has learnt from it.
        var quantum: Int?
        /// Until when (nanoseconds) the queue stays ready for what made it fail.
        var holdsUntil: Int64
    }

    /// `asked` frames at least, in a card that wants `period` at a time and holds `buffer`.
    init(asked: Int, period: Int, buffer: Int, rate: Int) {
        limit = Self.limit(period: period, buffer: buffer)
        self.asked = asked < limit ? asked : limit
        self.period = period
        self.rate = rate
        longestQuantum = 2_048 * rate / 48_000
        availMin = period
        shortestAvailMin = period
        lead = self.asked
    }

    /// The most that is queued, just before the card takes a quantum.
    var target: Int { @_noAllocation @_noLocks get { bounded(lead + quantum) } }

    /// Where nothing more is written even if it is due, since the card does not take what it should.
    var most: Int {
        @_noAllocation @_noLocks get { bounded(lead + period + (largestStep > quantum ? largestStep : quantum)) }
    }

    /// How much is queued while nothing is known of the quantum, or it has become longer: enough for 2048 frames at 48 kHz, twice
    /// as many each time that this was too little.
    var generous: Int { @_noAllocation @_noLocks get { bounded(longestQuantum + lead(for: longestQuantum)) } }

    /// The thread that writes has no real-time priority, so others make it late: half a period more is queued from the start. The
    /// thread in which a sound server's plugin takes from the queue has none either, and misses what it is late for: it is given
    /// twice the time.
    mutating func expectLateness() {
        shortestAvailMin = 2 * period
        availMin = shortestAvailMin
        leastAllowance = period / 2
        if allowance < leastAllowance { allowance = leastAllowance }
        lead = lead(for: quantum)
    }

    /// The card came back with another buffer.
    @_noAllocation @_noLocks
    mutating func fit(buffer: Int) {
        limit = Self.limit(period: period, buffer: buffer)
        lead = lead(for: quantum)
        availMin = shortestAvailMin
    }

    /// The generous queue ran dry, too.
    @_noAllocation @_noLocks
    mutating func learningFailed() { if generous < limit { longestQuantum *= 2 } }

    /// The card takes `quantum` frames at a time and took `largestStep` at once, as far as is known at `now` (nanoseconds).
    @_noAllocation @_noLocks
    mutating func adapt(toQuantum quantum: Int, largestStep: Int, at now: Int64) {
        self.quantum = quantum
        if largestStep > self.largestStep || !isHolding(at: now) { self.largestStep = largestStep }
        adaptAvailMin(at: now)
        if allowance > leastAllowance, now >= nextEasing {
            allowance = allowance / 2 > leastAllowance ? allowance / 2 : leastAllowance
            nextEasing = now + Self.minute
        }
        lead = lead(for: quantum)
    }

    /// The quantum is known after an underrun. Where it is no longer than before it explains nothing, so the lead was too
    /// short.
    @_noAllocation @_noLocks
    mutating func settle(at now: Int64) {
        guard let before = failure?.quantum else { return }
        failure?.quantum = nil
        if quantum < before + period / 2 { raise(at: now) }
    }

    /// Whether the queue stays ready for the largest quantum since the last underrun: for a minute.
    @_noAllocation @_noLocks
    func isHolding(at now: Int64) -> Bool { failure.map { now < $0.holdsUntil } ?? false }

    /// The queue ran dry at `now`. `isLate`: our thread came too late for what was queued. Otherwise the card took more at a
    /// time than it had before, and how much that is shows only once enough is there: what the quantum needs is to be learnt
    /// from a generous queue, and `settle` is called then.
    @_noAllocation @_noLocks
    mutating func underrun(isLate: Bool, at now: Int64) {
        failure = Failure(quantum: isLate ? nil : quantum, holdsUntil: now + Self.minute)
        nextShortening = now + 2 * nanosecondsPerSecond
        if isLate { raise(at: now) }
    }

    @_noAllocation @_noLocks
    private mutating func raise(at now: Int64) {
        let most = rate / 50
        nextEasing = now + Self.minute
        allowance = allowance + period / 2 < most ? allowance + period / 2 : most
        lead = lead(for: quantum)
    }

    @_noAllocation @_noLocks
    private mutating func adaptAvailMin(at now: Int64) {
        if largestStep >= Self.handovers * shortestAvailMin {
            availMin = longAvailMin
            nextShortening = now + nanosecondsPerSecond
        } else if availMin > shortestAvailMin, quantum > 0, now >= nextShortening {
            availMin = shortestAvailMin
        }
    }

    /// What is asked for, of which the quantum is a part, but never less than a period and the reserve.
    @_noAllocation @_noLocks
    private func lead(for quantum: Int) -> Int {
        let least = period + period / 2
        return bounded((asked - quantum > least ? asked - quantum : least) + allowance)
    }

    @_noAllocation @_noLocks
    private func bounded(_ frames: Int) -> Int { frames < limit ? frames : limit }

    @_noAllocation @_noLocks
    private static func limit(period: Int, buffer: Int) -> Int {
        buffer - period > period + period / 2 ? buffer - period : buffer
    }

    /// How often PipeWire's ALSA plugin hands over `avail_min` frames in a cycle, at the most.
    private static var handovers: Int { @_noAllocation @_noLocks get { 8 } }

    /// Enough for a quantum of 4096 frames.
    private var longAvailMin: Int {
        @_noAllocation @_noLocks get {
            shortestAvailMin > 512 * rate / 48_000 ? shortestAvailMin : 512 * rate / 48_000
        }
    }

    private static var minute: Int64 { @_noAllocation @_noLocks get { 60 * nanosecondsPerSecond } }
}
