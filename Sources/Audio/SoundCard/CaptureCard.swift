import Glibc
public import TenfourAudioCore

/// A sound card that captures, nothing stale in it.
///
/// Read, again and again, from one thread (any one; the card may be moved between). Nothing here allocates or takes a lock
/// of ours after `init`, as long as the card is there.
///
/// It starts on the first `read`, and so after an overrun. The thread sleeps until a whole frame's worth, as asked for at `init`,
/// must be there. Sound servers deliver many frames at once (`QuantumEstimator`): where more than two such bursts and a frame wait
/// after a stall, and more than 60 ms, the older part is thrown away and counted. A card whose buffer is shorter reports an
/// overrun, but PulseAudio's never does, so the clock is asked too. A card that is lost is looked for again after 0.25 s, then twice as long each time up to 5 s;
/// meanwhile silence is captured by the clock. A PCM that is no clock (`null`, `file`) is found out in its first quarter
/// of a second and paced by ours.
@safe public struct CaptureCard: ~Copyable {
    /// What was granted at `init`. A card that comes back after a loss comes back with the same.
    public let granted: NegotiatedFormat
    /// How many frames one `read` best asks for, at the granted rate: `frame` of `init`, as far as the buffer allows.
    public let frame: FrameCount
    public private(set) var counts = InterruptionCounts()
    /// Is told when a card that comes back grants something else than before.
    public let changes = CardChanges()

    private var device: PCMDevice
    private let channelCount: Int
    private let period: Int
    private let rate: Int
    /// Frames the card gave.
    private var taken = 0
    /// When the card was started (nanoseconds), and how much it had given by then.
    private var startedAt: Int64 = 0
    private var takenBefore = 0
    /// When the next frame was or will be at the microphone; nil when nothing is known of it.
    private var expected: Int64?
    private var quantum: QuantumEstimator
    private var stall: StallDetector
    private var pace: FreeRunDetector
    /// In place of the card's: while it is lost, or when it has none.
    private var clock: FreeRunningClock?
    private var search: Backoff?
    private var reopening = CardReopening()
    /// Overruns in a row without a captured frame between them.
    private var recoveries = 0

    /// Opens `device` (`hw:1`, `plughw:CARD=USB`, `default`, … exactly as given) and takes the nearest to what is wanted,
    /// the rate first of all: resample where `granted.format.rate` is another. Allocates and may take long.
    ///
    /// - `period`: how much sound passes from one interrupt to the next, at `format.rate`. A sound server delivers at least as often.
    /// - `frame`: how much one `read` will ask for, at `format.rate`: a period when nil. Best a multiple of it.
    public init(
        device: String, format: LPCMFormat = .mono, period: FrameCount, frame: FrameCount? = nil
    ) throws(SoundCardError) {
        precondition(period > .zero, "a card captures one period while another is read")
        self.device = try PCMDevice(
            device, .capture,
            RequestedParameters(format: format, period: period.rawValue, queue: max(1, frame?.rawValue ?? period.rawValue)))
        granted = NegotiatedFormat(of: self.device, channelCount: format.channelCount)
        channelCount = format.channelCount
        let grant = self.device.grant
        self.frame = FrameCount(grant.queue)
        self.period = grant.period
        rate = grant.rate
        quantum = QuantumEstimator(rate: grant.rate)
        stall = StallDetector(period: grant.period, rate: grant.rate)
        pace = FreeRunDetector(buffer: min(grant.buffer, 4 * grant.period), rate: grant.rate)
    }

    /// Says that the thread that will read has no real-time priority: a sound server is asked to give more at a time, so that its
    /// own ordinary thread has longer for it. Before the first `read`.
    public mutating func expectLateness() { device.setAvailMin(2 * period) }

    /// Fills `samples` (interleaved, of `granted.format`'s channels, a whole number of frames) with what was captured next,
    /// or says what happened instead. Sleeps until it is there, for half a second without any progress at most, or eight
    /// periods where they are longer.
    @_noAllocation @_noLocks
    public mutating func read(into samples: inout MutableSpan<Float>) -> CaptureEvent {
        let wanted = samples.count / channelCount
        if clock != nil { return search == nil ? readByTheClock(&samples, wanted) : readWithoutCard(&samples, wanted) }
        var (done, begun) = (0, Int64(0))
        var (hasBegun, hasRested, hasTrimmed) = (false, false, false)
        while true {
            let seen = device.observe()
            switch Remedy(code: seen.code, state: seen.state) {
            case .start:
                // One that is started and does not run would have us start it for ever.
                if hasBegun { return lose(.stalled) }
                if let turn = begin() { return turn }
                hasBegun = true
            case .prepare: return recover(from: .xrun)
            case .resume: return recover(from: .suspended)
            case .giveUp(let loss): return lose(loss)
            case .waitALittle, .goOn:
                quantum.record(position: taken + seen.available, at: seen.at)
                if done == 0 {
                    if !hasTrimmed, let turn = trim(seen, wanted: wanted) { return turn }
                    hasTrimmed = true
                    begun = seen.at - nanoseconds(seen.delay > seen.available ? seen.delay : seen.available, at: rate)
                }
                let missing = wanted - done < frame.rawValue ? wanted - done : frame.rawValue
                if seen.available < missing {
                    if stall.standsStill(at: taken + seen.available, now: seen.at) { return lose(.stalled) }
                    if let turn = rest(for: missing - seen.available, since: seen, isEarly: hasRested) { return turn }
                    hasRested = true
                    continue
                }
                let count = read(into: &samples, from: done, frameCount: missing)
                if count == -EAGAIN {
                    // It said that there was something. Not taken at its word a second time without a pause.
                    if stall.standsStill(at: taken, now: seen.at) { return lose(.stalled) }
                    PCMCalls.sleep(until: seen.at + nanoseconds(missing, at: rate))
                    continue
                }
                if count < 0 {
                    switch Remedy(code: Int32(truncatingIfNeeded: count), state: .running) {
                    case .giveUp(let loss): return lose(loss)
                    case .resume: return recover(from: .suspended)
                    case .prepare: return recover(from: .xrun)
                    case .goOn, .start, .waitALittle: continue
                    }
                }
                done += count
                hasRested = false
                guard done >= wanted else { continue }
                return captured(wanted, at: begun, now: seen.at)
            }
        }
    }
}

// Moved from thread to thread as a whole, and never in two at once: that is what not being copyable means.
extension CaptureCard: @unchecked Sendable {}

// How nothing stale stays.
extension CaptureCard {
    /// Whatever is there up to `frameCount`, or a negative errno; never zero.
    @_noAllocation @_noLocks
    private mutating func read(into samples: inout MutableSpan<Float>, from first: Int, frameCount: Int) -> Int {
        let count = device.read(into: &samples, channelCount: channelCount, from: first, frameCount: frameCount)
        if count > 0 { taken += count }
        return count == 0 ? Int(-EAGAIN) : count
    }

    @_noAllocation @_noLocks
    private mutating func captured(_ count: Int, at begun: Int64, now: Int64) -> CaptureEvent {
        if pace.runsAway(at: taken, now: now) { clock = FreeRunningClock(rate: rate, now: now) }
        stall.forget()
        recoveries = 0
        expected = begun + nanoseconds(count, at: rate)
        return .captured(at: Instant(nanoseconds: begun))
    }

    /// Throws away all but the last `wanted` frames where more waits than is worth hearing.
    @_noAllocation @_noLocks
    private mutating func trim(_ seen: Observation, wanted: Int) -> CaptureEvent? {
        let byClock = frames(in: seen.at - (expected ?? seen.at), at: rate)
        let waiting = byClock > seen.available ? byClock : seen.available
        let burst = quantum.quantum > period ? quantum.quantum : period
        let worth = wanted + 2 * burst > rate * 60 / 1_000 ? wanted + 2 * burst : rate * 60 / 1_000
        // A PCM that is no clock always has more than has passed since it was started.
        let passed = frames(in: seen.at - startedAt, at: rate)
        guard waiting > worth, taken - takenBefore + seen.available <= passed + 2 * burst else { return nil }
        var dropped = 0
        while dropped < waiting - wanted {
            let count = device.discard(frameCount: waiting - wanted - dropped)
            guard count > 0 else { break }
            dropped += count
        }
        guard dropped > 0 else { return nil }
        taken += dropped
        expected = nil
        pace.forget()
        return .interrupted(counts.note(Interruption(.backlog, missed: dropped)))
    }

    /// Sleeps until `missing` more frames have been captured, or nearly.
    @_noAllocation @_noLocks
    private mutating func rest(for missing: Int, since seen: Observation, isEarly: Bool) -> CaptureEvent? {
        switch device.rest(for: missing, since: seen, isEarly: isEarly, atMost: stall.patience) {
        case .none: return nil
        case .some(let loss): return lose(loss)
        }
    }

    @_noAllocation @_noLocks
    private mutating func begin() -> CaptureEvent? {
        let code = device.start()
        stall.forget()
        quantum.reset()
        (startedAt, takenBefore) = (PCMCalls.now(), taken)
        return code < 0 ? lose(CardLoss(code: code)) : nil
    }

    @_noAllocation @_noLocks
    private mutating func recover(from cause: Interruption.Cause) -> CaptureEvent {
        recoveries += 1
        // A card that stops as soon as it is started would keep us busy for ever.
        guard recoveries < 8 else { return lose(.stalled) }
        if let loss = device.makeReady(after: cause) { return lose(loss) }
        if let turn = begin() { return turn }
        pace.forget()
        clock = nil
        return .interrupted(counts.note(Interruption(cause, missed: gap())))
    }

    /// How much passed by the microphone since the last frame that was read.
    @_noAllocation @_noLocks
    private mutating func gap() -> Int {
        let now = PCMCalls.now()
        let missed = frames(in: now - (expected ?? now), at: rate)
        expected = now
        return missed
    }
}

// What goes on without a card, or with one that is no clock.
extension CaptureCard {
    /// Vetted: it allocates, but only while there is no card.
    @_semantics("no_performance_analysis")
    private mutating func isCardBack() -> Bool { device.isBack(&search, &reopening, changes) }

    @_noAllocation @_noLocks
    private mutating func lose(_ loss: CardLoss) -> CaptureEvent {
        let now = PCMCalls.now()
        device.close()
        search = Backoff(now: now)
        clock = FreeRunningClock(rate: rate, now: now)
        recoveries = 0
        return .interrupted(counts.note(Interruption(.lost(loss), missed: gap())))
    }

    @_noAllocation @_noLocks
    private mutating func readWithoutCard(_ samples: inout MutableSpan<Float>, _ wanted: Int) -> CaptureEvent {
        if isCardBack() {
            search = nil
            clock = nil
            stall.forget()
            pace.forget()
            return .interrupted(counts.note(Interruption(.reopened, missed: gap())))
        }
        for index in samples.indices { samples[index] = 0 }
        return passByTheClock(wanted)
    }

    /// From a PCM that gives as much as it is asked for.
    @_noAllocation @_noLocks
    private mutating func readByTheClock(_ samples: inout MutableSpan<Float>, _ wanted: Int) -> CaptureEvent {
        var done = 0
        while done < wanted {
            let count = read(into: &samples, from: done, frameCount: wanted - done)
            if count > 0 {
                done += count
                continue
            }
            switch Remedy(code: Int32(truncatingIfNeeded: count), state: .running) {
            case .giveUp(let loss): return lose(loss)
            case .resume: return recover(from: .suspended)
            // It waits after all, so it is a clock.
            case .prepare, .goOn, .start, .waitALittle: return recover(from: .xrun)
            }
        }
        return passByTheClock(wanted)
    }

    @_noAllocation @_noLocks
    private mutating func passByTheClock(_ count: Int) -> CaptureEvent {
        guard var clock else { return .captured(at: Instant(nanoseconds: PCMCalls.now())) }
        let begun = clock.due(0)
        PCMCalls.sleep(until: clock.due(count))
        counts.missed.rawValue += clock.pass(count, now: PCMCalls.now())
        self.clock = clock
        expected = clock.due(0)
        return .captured(at: Instant(nanoseconds: begun))
    }
}
