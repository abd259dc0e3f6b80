/// Estimates how many frames a card or a sound server moves at a time, from the steps of its hardware pointer: PipeWire's quantum, a
/// period of dmix, the transfers of a USB card. A card that moves frame by frame has the quantum 0.
///
/// Measures only; `PlaybackQueue` decides. Looks back over one to two seconds, so it follows a quantum that changes.
struct QuantumEstimator {
    private let rate: Int
    private var current = Window()
    private var previous = Window()
    private var windowEnd: Int64 = .min
    private var lastPosition: Int?
    /// The lowest offset since it is kept.
    private var kept: Int64?

    /// The steps and offsets seen within one second. An offset is the moment at which the card would have moved frame 0, had
    /// it moved frame by frame: it falls at each step and rises between them.
    private struct Window {
        var smallestStep = Int.max
        var largestStep = 0
        var lowest = Int64.max
        var highest = Int64.min
    }

    init(rate: Int) { self.rate = rate }

    /// The card had moved `position` frames at `now` (nanoseconds of the monotonic clock). `keepsOrigin`: the earliest origin is not
    /// forgotten as long as this is said.
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

    /// The card was stopped, and its position begins anew.
    @_noAllocation @_noLocks
    mutating func reset() {
        let rate = rate
        self = QuantumEstimator(rate: rate)
    }

    /// What came before does not tell where frame 0 was moved.
    @_noAllocation @_noLocks
    mutating func forgetOrigin() {
        (previous.lowest, current.lowest) = (.max, .max)
        kept = nil
    }

    /// In frames; 0 where the pointer moves evenly (to a millisecond) or nothing is known yet.
    var quantum: Int {
        @_noAllocation @_noLocks get {
            let step = previous.smallestStep < current.smallestStep ? previous.smallestStep : current.smallestStep
            return step < Int.max && spread > Self.evenness ? step : 0
        }
    }

    /// The largest step, in frames. More than the quantum after a late look.
    var largestStep: Int {
        @_noAllocation @_noLocks get {
            previous.largestStep > current.largestStep ? previous.largestStep : current.largestStep
        }
    }

    /// The moment at which frame 0 was moved by a card that moves each frame as early as this one ever does; nil before the
    /// first record. The slope of a line through it is the nominal rate.
    var origin: Int64? {
        @_noAllocation @_noLocks get {
            let lowest = lowest
            return lowest < Int64.max ? (lowest < kept ?? .max ? lowest : kept) : nil
        }
    }

    private var lowest: Int64 {
        @_noAllocation @_noLocks get { previous.lowest < current.lowest ? previous.lowest : current.lowest }
    }

    /// How much the offsets differ, in nanoseconds.
    private var spread: Int64 {
        @_noAllocation @_noLocks get {
            let highest = previous.highest > current.highest ? previous.highest : current.highest
            return highest < lowest ? 0 : highest - lowest
        }
    }

    /// A card that moves frame by frame is seen up to a millisecond off its line, by the time that asking takes.
    private static var evenness: Int64 { @_noAllocation @_noLocks get { 1_000_000 } }
}
