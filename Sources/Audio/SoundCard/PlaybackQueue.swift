/// Decides the number of frames queued for playback: the quantum of the card or sound server and a reserve for late
/// wake-ups. Only decides; `QuantumEstimator` measures, `PlaybackCard` performs.
///
/// A sound server takes a whole quantum at once. Its next quantum is written evenly, period by period, and the last
/// period is demanded `lead` before the server takes it: one period for writing it and half a period in reserve. So the
/// queue holds the lead just after the server took its quantum, and lead plus quantum just before. The lead grows by
/// half a period after an underrun that the quantum does not explain, and half of that growth is taken back each
/// minute.
struct PlaybackQueue {
    /// The time from the demand of a period until the card takes the period's last frame, in frames.
    private(set) var lead: Int
    /// The `avail_min` to set. PipeWire uses it as the requested latency, so it is one period. But PipeWire's ALSA
    /// plugin transfers at most eight times `avail_min` frames per cycle, so a long quantum needs a longer `avail_min`.
    private(set) var availMin: Int
    /// The shortest `avail_min` that is set: one period, or two periods after `allowForLateWakeups`.
    private var shortestAvailMin: Int

    private let requestedQueue: Int
    private let period: Int
    /// The largest number of frames that may be queued: the card's buffer less one period.
    private var limit: Int
    private let rate: Int
    /// The card's quantum in frames; 0 if unknown or if the card takes single frames.
    private var quantum = 0
    /// The largest number of frames that the card took at once: in the last one to two seconds, or since an underrun
    /// that was less than a minute ago.
    private var largestStep = 0
    /// The extra lead, in frames, added because our thread was late before.
    private var allowance = 0
    /// The lowest value of `allowance`, in frames: half a period after `allowForLateWakeups`, otherwise 0.
    private var leastAllowance = 0
    /// The time (nanoseconds) at which the extra lead will next be halved.
    private var nextEasing: Int64 = .min
    /// While the card's quantum is unknown, the queue is long enough for a quantum of this many frames. Initially this
    /// is the longest quantum that PipeWire chooses by itself; it is doubled each time that the long queue runs empty.
    private var longestQuantum: Int
    /// The earliest time (nanoseconds) at which `avail_min` returns to `shortestAvailMin`.
    private var nextShortening: Int64 = .min
    /// The last underrun; nil if there was none.
    private var failure: Failure?

    private struct Failure {
        /// The card's quantum before the underrun, to be compared with the quantum measured afterwards. It is nil after
        /// the measurement, and if our late thread caused the underrun, which requires no measurement.
        var quantum: Int?
        /// The time (nanoseconds) until which the queue stays long enough for another underrun of the same kind.
        var holdsUntil: Int64
    }

    /// Creates a queue of `requestedQueue` frames, or fewer if the card's buffer is too short. `period` and `buffer`
    /// are the card's, in frames.
    init(requestedQueue: Int, period: Int, buffer: Int, rate: Int) {
        limit = Self.limit(period: period, buffer: buffer)
        self.requestedQueue = requestedQueue < limit ? requestedQueue : limit
        self.period = period
        self.rate = rate
        longestQuantum = 2_048 * rate / 48_000
        availMin = period
        shortestAvailMin = period
        lead = self.requestedQueue
    }

    /// The largest fill level, just before the card takes a quantum.
    var target: Int { @_noAllocation @_noLocks get { bounded(lead + quantum) } }

    /// The largest fill level after a write. If a due period would exceed it, the card does not take frames at present,
    /// so the period is not written yet.
    var most: Int {
        @_noAllocation @_noLocks get { bounded(lead + period + (largestStep > quantum ? largestStep : quantum)) }
    }

    /// The number of frames queued while the quantum is unknown or has become longer. They are enough for a quantum of
    /// 2048 frames at 48 kHz at first, and for twice as many each time that the queue was too short.
    var generous: Int { @_noAllocation @_noLocks get { bounded(longestQuantum + lead(for: longestQuantum)) } }

    /// Prepares for a writing thread without real-time priority: queues half a period more, since the thread wakes
    /// late. A sound server's plugin thread then has no real-time priority either and misses deadlines, so the plugin
    /// is given twice the time.
    mutating func allowForLateWakeups() {
        shortestAvailMin = 2 * period
        availMin = shortestAvailMin
        leastAllowance = period / 2
        if allowance < leastAllowance { allowance = leastAllowance }
        lead = lead(for: quantum)
    }

    /// Adapts to the size of a reopened card's buffer, in frames.
    @_noAllocation @_noLocks
    mutating func fit(buffer: Int) {
        limit = Self.limit(period: period, buffer: buffer)
        lead = lead(for: quantum)
        availMin = shortestAvailMin
    }

    /// Records that the long queue ran empty while the quantum was measured. If the card's buffer permits, the queue is
    /// from now on long enough for twice the quantum expected so far.
    @_noAllocation @_noLocks
    mutating func learningFailed() { if generous < limit { longestQuantum *= 2 } }

    /// Adapts to a card whose quantum is `quantum` frames, and which took at most `largestStep` frames at once, as
    /// measured until `now` (nanoseconds).
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

    /// Ends the adaptation to an underrun; call it when the quantum is known again. If the quantum has not grown, the
    /// lead was too short, and is raised.
    @_noAllocation @_noLocks
    mutating func quantumLearned(at now: Int64) {
        guard let before = failure?.quantum else { return }
        failure?.quantum = nil
        if quantum < before + period / 2 { raise(at: now) }
    }

    /// Whether the last underrun is less than a minute ago. During this minute the queue stays prepared for the largest
    /// quantum since the underrun.
    @_noAllocation @_noLocks
    func isHolding(at now: Int64) -> Bool { failure.map { now < $0.holdsUntil } ?? false }

    /// Records an underrun at `now`. `isLate` is true if our thread woke too late, and false if the card took more
    /// frames at a time than before. In the second case the new quantum is measured with a long queue, and then
    /// `quantumLearned` is called.
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

    /// Returns the requested queue less the quantum, at least one and a half periods, plus the extra lead.
    @_noAllocation @_noLocks
    private func lead(for quantum: Int) -> Int {
        let least = period + period / 2
        return bounded((requestedQueue - quantum > least ? requestedQueue - quantum : least) + allowance)
    }

    @_noAllocation @_noLocks
    private func bounded(_ frames: Int) -> Int { frames < limit ? frames : limit }

    @_noAllocation @_noLocks
    private static func limit(period: Int, buffer: Int) -> Int {
        buffer - period > period + period / 2 ? buffer - period : buffer
    }

    /// The maximum number of transfers, of `avail_min` frames each, that PipeWire's ALSA plugin makes in one cycle.
    private static var handovers: Int { @_noAllocation @_noLocks get { 8 } }

    /// The `avail_min` for a quantum of up to 4096 frames at 48 kHz.
    private var longAvailMin: Int {
        @_noAllocation @_noLocks get {
            shortestAvailMin > 512 * rate / 48_000 ? shortestAvailMin : 512 * rate / 48_000
        }
    }

    private static var minute: Int64 { @_noAllocation @_noLocks get { 60 * nanosecondsPerSecond } }
}
