/// Estimates the quantum of a card or sound server from the steps of its hardware pointer: PipeWire's quantum, a dmix
/// period, the transfers of a USB card. A card that moves by single frames has quantum 0.
///
/// Only measures; `PlaybackQueue` decides. Uses the last one to two seconds, so it follows changes.
struct QuantumEstimator {
    private let rate: Int
    private var current = Window()
    private var previous = Window()
    private var windowEnd: Int64 = .min
    private var lastPosition: Int?
    /// The lowest offset (see `Window`) recorded while `keepsOrigin` was true; nil while it is false. It does not
    /// expire, unlike the offsets of the windows.
    private var kept: Int64?

    /// The steps and offsets within one second. The offset of an observation is the moment at which frame 0 would have
    /// moved if the card moved frame by frame. It falls at each step and rises in between.
    private struct Window {
        var smallestStep = Int.max
        var largestStep = 0
        var lowest = Int64.max
        var highest = Int64.min
    }

    init(rate: Int) { self.rate = rate }

    /// Records that the card had moved `position` frames at `now` (nanoseconds of the monotonic clock). While
    /// `keepsOrigin` is true, the earliest origin does not expire.
    @_noAllocation @_noLocks
    mutating func record(position: Int, at now: Int64, keepsOrigin: Bool = false) {
        if now >= windowEnd {
            let isFirst = windowEnd == .min
            previous = isFirst || now - windowEnd > nanosecondsPerSecond ? Window() : current
            current = Window()
            windowEnd = now + nanosecondsPerSecond
        }
        if let lastPosition, position > lastPosition {
            let step = position - lastPosition
            if step < current.smallestStep { current.smallestStep = step }
            if step > current.largestStep { current.largestStep = step }
        }
        lastPosition = position
        let offset = now - nanoseconds(position, at: rate)
        if offset < current.lowest { current.lowest = offset }
        if offset > current.highest { current.highest = offset }
        if !keepsOrigin { kept = nil } else if offset < kept ?? .max { kept = offset }
    }

    /// Records movement number `count` of a started card, over `positions`. It was seen at `now`, and had not happened at
    /// `last` yet. `period` is the card's, in frames.
    @_noAllocation @_noLocks
    mutating func recordMove(_ count: Int, over positions: Range<Int>, at now: Int64, after last: Int64, period: Int) {
        if count == 1 {
            // Starts the estimate here, since a sound server may begin to take frames late. It took one quantum.
            reset()
            record(position: positions.lowerBound, at: now)
        } else if count == 2, let origin,
            last - nanoseconds(positions.upperBound, at: rate) > origin + nanoseconds(period, at: rate)
        {
            // Starts again: PipeWire's plugin took too many frames, and then none until the surplus was played.
            forgetOrigin()
            record(position: positions.upperBound, at: last)
        }
    }

    /// Forgets all observations. Call it after the card was stopped.
    @_noAllocation @_noLocks
    mutating func reset() {
        let rate = rate
        self = QuantumEstimator(rate: rate)
    }

    /// Forgets the origin measured so far.
    @_noAllocation @_noLocks
    mutating func forgetOrigin() {
        (previous.lowest, current.lowest) = (.max, .max)
        kept = nil
    }

    /// The quantum in frames; 0 if the pointer moves evenly (within a millisecond) or before the first steps.
    var quantum: Int {
        @_noAllocation @_noLocks get {
            let step = previous.smallestStep < current.smallestStep ? previous.smallestStep : current.smallestStep
            return step < Int.max && spread > Self.evenness ? step : 0
        }
    }

    /// The largest step of the pointer, in frames. A late observation makes it longer than the quantum.
    var largestStep: Int {
        @_noAllocation @_noLocks get {
            previous.largestStep > current.largestStep ? previous.largestStep : current.largestStep
        }
    }

    /// The earliest time (nanoseconds) at which frame 0 can have moved, computed from each observed position at the
    /// nominal rate; nil before the first observation.
    var origin: Int64? {
        @_noAllocation @_noLocks get {
            let lowest = lowest
            return lowest < Int64.max ? (lowest < kept ?? .max ? lowest : kept) : nil
        }
    }

    private var lowest: Int64 {
        @_noAllocation @_noLocks get { previous.lowest < current.lowest ? previous.lowest : current.lowest }
    }

    /// The range of the offsets, in nanoseconds.
    private var spread: Int64 {
        @_noAllocation @_noLocks get {
            let highest = previous.highest > current.highest ? previous.highest : current.highest
            return highest < lowest ? 0 : highest - lowest
        }
    }

    /// The largest range of the offsets, in nanoseconds, at which the card counts as moving by single frames. The
    /// position of such a card appears up to 1 ms off a straight line, because the query takes time.
    private static var evenness: Int64 { @_noAllocation @_noLocks get { 1_000_000 } }
}
