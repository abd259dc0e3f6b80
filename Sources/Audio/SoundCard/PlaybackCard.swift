import Glibc
public import TenfourAudioCore

/// A sound card that plays, with the shortest queue that works.
///
/// Call `wait`, write the demanded frames, and wait again, from one thread at a time. After `init`, no method allocates
/// or takes a lock of ours while the card is present.
///
/// Periods are demanded evenly, each shortly before the card takes it, even if a sound server takes many frames at once
/// (`DemandSchedule`). `PlaybackQueue` adapts to the server's quantum and to late wake-ups of our thread. The card's
/// buffer is long, since only its queued part is delay. The thread sleeps by the clock and polls the position, so it
/// needs no wake-ups by the card.
///
/// The first `wait` starts the card with a long queue of silence, from which the quantum is learnt within 50 ms; the
/// same happens when the quantum becomes longer. After an underrun because our thread was late, overdue periods are
/// demanded immediately and played next; silence replaces only periods that are not due yet. A lost card is reopened
/// after 0.25 s, then after twice as long each time, up to 5 s; meanwhile the monotonic clock paces the demands. A PCM
/// without a clock (`null`, `file`) takes the queue of silence at once, and is paced by the monotonic clock from then on.
@safe public struct PlaybackCard: ~Copyable {
    /// The format negotiated in `init`. A reopened card is used with the same rate, period and channel count.
    public let granted: NegotiatedFormat
    public private(set) var counts = InterruptionCounts()
    /// Collects the differences between a reopened card and the card before its loss.
    public var changes: CardChanges { lostCard.changes }

    private var device: PCMDevice
    private let channelCount: Int
    private let period: Int
    private let rate: Int
    private var queue: PlaybackQueue
    private var quantum: QuantumEstimator
    private var schedule: DemandSchedule
    /// The number of frames written to the card.
    private var written = 0
    /// The number of written frames that were not demanded: silence with which this type filled the queue.
    private var silence = 0
    /// The number of frames still to be demanded before a prepared card is started; nil while the card runs.
    private var priming: Int?
    /// Whether the quantum is still unknown. While it is unknown, the queue is long and is not refilled.
    private var isLearning = true
    /// The time of the last observation of the card (nanoseconds).
    private var lastSeen: Int64 = 0
    /// The number of observations in which the card's position had advanced, counted since the card was started.
    private var moves = 0
    /// The card's position at the last observation, in frames.
    private var lastPosition = 0
    /// The error of the last write, from which the next `wait` recovers; zero if the write succeeded.
    private var writeError: Int32 = 0
    private var stall: StallDetector
    private var freeRun: FreeRunDetector
    /// The monotonic clock as a replacement for the card's. Set while the card is lost or if the PCM has no clock.
    private var clock: FreeRunningClock?
    private var lostCard = LostCard()
    /// The number of calls of `sleepUntilDue` that slept. It determines which sleeps end early.
    private var waits = 0
    /// The number of underruns since the last demand.
    private var recoveries = 0

    /// The largest number of queued frames, reached just before the card takes frames; at the granted rate.
    public var target: FrameCount { FrameCount(queue.target) }

    /// Opens `device` (`hw:1`, `plughw:CARD=USB`, `default`, …, exactly as given) with the supported parameters nearest
    /// to the requested ones. The rate has priority; if `granted.format.rate` differs from the requested rate, the
    /// caller must resample. Allocates, and may take long.
    ///
    /// - `period`: frames per demand, at `format.rate`.
    /// - `target`: the largest number of frames queued if the card takes single frames, at `format.rate`; nil: two
    ///   periods. At least one and a half periods and at most the buffer are used.
    /// - `isPrecise`: whether to use the card's most precise sample format, instead of 16 bits, which cost less.
    public init(
        device: String, format: LPCMFormat = .mono, period: FrameCount, target: FrameCount? = nil,
        isPrecise: Bool = false
    ) throws(SoundCardError) {
        precondition(period > .zero, "a card plays one period while another is written")
        var requested = RequestedParameters(
            format: format, period: period.rawValue, queue: target?.rawValue ?? 2 * period.rawValue)
        if isPrecise { requested.sampleFormats = SampleFormat.widestFirst }
        self.device = try PCMDevice(device, .playback, requested)
        channelCount = format.channelCount
        granted = NegotiatedFormat(of: self.device, channelCount: format.channelCount)
        let negotiated = self.device.negotiated
        (self.period, rate) = (negotiated.period, negotiated.rate)
        queue = PlaybackQueue(
            requestedQueue: negotiated.queue, period: negotiated.period, buffer: negotiated.buffer,
            rate: negotiated.rate)
        quantum = QuantumEstimator(rate: negotiated.rate)
        schedule = DemandSchedule(period: negotiated.period, rate: negotiated.rate)
        stall = StallDetector(period: negotiated.period, rate: negotiated.rate)
        freeRun = FreeRunDetector(buffer: min(negotiated.buffer, 4 * negotiated.period), rate: negotiated.rate)
    }

    /// Configures the card for a waiting thread without real-time priority: more frames are queued, and a sound server
    /// is asked to take more frames at a time. Call before the first `wait`.
    public mutating func allowForLateWakeups() {
        queue.allowForLateWakeups()
        device.setAvailMin(queue.availMin)
    }

    /// Sleeps until the card demands a period or is interrupted, at most half a second or eight periods, whichever is
    /// longer. Returns after each period while the card has not begun to play.
    @_noAllocation @_noLocks
    public mutating func wait() -> PlaybackEvent {
        if clock != nil { return lostCard.isLost ? waitForTheCard() : waitByTheClock() }
        var (hasStarted, hasSlept, isTried) = (false, false, false)
        sleepUntilDue()
        let begin = PCMCalls.now()
        while true {
            let seen = device.observe()
            let code = writeError < 0 ? writeError : seen.code
            writeError = 0
            switch RecoveryAction(code: code, state: seen.state) {
            case .start:
                // Without this check, a card that is started but does not run would be restarted forever.
                if hasStarted { return reportLoss(.stalled) }
                if let event = fill() ?? start() { return event }
                hasStarted = true
            case .prepare: return recover(from: .xrun)
            case .resume: return recover(from: .suspended)
            case .giveUp(let loss): return reportLoss(loss)
            case .waitBriefly, .proceed:
                let fill = device.negotiated.buffer - seen.available
                if isLearning, fill <= 0, !isTried {
                    isTried = true
                    if hasNoClock() { return waitByTheClock() } else { continue }
                }
                if let event = trackPosition(seen, fill: fill) { return event }
                let due = isLearning ? seen.at + nanoseconds(period, at: rate) / 4 : due
                let excess = isLearning ? 0 : fill - (queue.most - period)
                if due <= seen.at, excess <= 0 { return demand(seen, due: due, fill: fill) }
                if stall.isStalled(at: written - fill, now: seen.at) { return reportLoss(.stalled) }
                if stall.isStarting, seen.at - begin > nanoseconds(period, at: rate) { return .starting }
                sleep(until: due, andFor: excess, since: seen.at, isEarly: hasSlept)
                hasSlept = true
            }
        }
    }

    /// Writes `samples` (interleaved, whole frames of `granted.format`, normally the demanded number). Blocks only if
    /// they exceed the free space in the buffer. The next `wait` reports errors. A lost card's audio is dropped.
    @_noAllocation @_noLocks
    public mutating func write(_ samples: Span<Float>) {
        let frameCount = samples.count / channelCount
        var done = 0
        var refusedSince: Int64 = 0
        while done < frameCount && !lostCard.isLost && writeError == 0 {
            let taken = device.write(samples, channelCount: channelCount, from: done, frameCount: frameCount - done)
            if taken > 0 {
                done += taken
                refusedSince = 0
                continue
            }
            let now = PCMCalls.now()
            if refusedSince == 0 { refusedSince = now }
            switch RecoveryAction(code: Int32(truncatingIfNeeded: taken), state: .running) {
            case .proceed, .waitBriefly:
                PCMCalls.sleep(until: now + nanoseconds(period, at: rate) / 4)
                if now - refusedSince > stall.timeout { writeError = -EIO }
            default: writeError = Int32(truncatingIfNeeded: taken)
            }
        }
        written += frameCount
        if let missing = priming { priming = missing - frameCount }
    }

    /// Blocks until the card has played the written frames, at most for the buffer's length and half a second.
    public mutating func drain() { if clock == nil { device.drain() } }
}

// Sendable, since a noncopyable value is on one thread at a time.
extension PlaybackCard: @unchecked Sendable {}

// MARK: Queue
extension PlaybackCard {
    /// Tracks the card's position. Returns an event once an interrupted card has shown its position again.
    @_noAllocation @_noLocks
    private mutating func trackPosition(_ seen: Observation, fill: Int) -> PlaybackEvent? {
        let position = written - fill
        if position > lastPosition {
            moves += 1
            let range = lastPosition - silence..<position - silence
            quantum.recordMove(moves, over: range, at: seen.at, after: lastSeen, period: period)
        }
        lastPosition = position
        quantum.record(position: position - silence, at: seen.at, keepsOrigin: queue.isHolding(at: seen.at))
        lastSeen = seen.at
        guard let origin = quantum.origin, moves > 0 else { return nil }
        // After an interruption the position is known from its third movement on; the first may have any length.
        let isKnown = !schedule.isProvisional || moves > 2
        guard isLearning || isKnown else { return nil }
        let availMin = queue.availMin
        queue.adapt(toQuantum: quantum.quantum, largestStep: quantum.largestStep, at: seen.at)
        if queue.availMin != availMin { device.setAvailMin(queue.availMin) }
        if isLearning {
            // Waits until the long queue has run down to the needed length.
            guard seen.at >= schedule.due(written - silence, by: line(from: origin)) else { return nil }
            queue.quantumLearned(at: seen.at)
            isLearning = false
        }
        guard isKnown else { return nil }
        guard schedule.isProvisional else {
            schedule.follow(line(from: origin))
            return nil
        }
        let (missed, behind) = schedule.resume(line(from: origin))
        return .interrupted(counts.record(Interruption(.resumed, missed: missed, behind: behind)))
    }

    @_noAllocation @_noLocks
    private func line(from origin: Int64) -> DemandSchedule.Line {
        DemandSchedule.Line(origin: origin, quantum: quantum.quantum, lead: queue.lead)
    }

    /// The time at which the next frame to be written is due (nanoseconds); `.min` before the card's position is known.
    private var due: Int64 { @_noAllocation @_noLocks get { schedule.due(written - silence) ?? .min } }

    @_noAllocation @_noLocks
    private mutating func demand(_ seen: Observation, due: Int64, fill: Int) -> PlaybackEvent {
        if freeRun.isFreeRunning(at: written - fill, now: seen.at) {
            clock = FreeRunningClock(rate: rate, now: seen.at)
        }
        stall.reset()
        recoveries = 0
        let playedAt = seen.at + nanoseconds(seen.delay > 0 ? seen.delay : 0, at: rate)
        return demand(dueAt: due > .min ? due : seen.at, playedAt: playedAt)
    }

    @_noAllocation @_noLocks
    private mutating func demand(dueAt due: Int64, playedAt: Int64) -> PlaybackEvent {
        .demand(
            Demand(
                frameCount: period, requestedAt: due, shift: schedule.consumeShift(), playedAt: playedAt,
                position: written
            ))
    }

    /// Sleeps until the next period is due, without an observation before that time. Every eighth sleep ends earlier,
    /// at varying moments, so that observations fall at all phases of the server's cycle and its timing stays known.
    @_noAllocation @_noLocks
    private mutating func sleepUntilDue() {
        guard !isLearning, priming == nil, !schedule.isProvisional, writeError == 0, due > .min else { return }
        let (now, length) = (PCMCalls.now(), nanoseconds(period, at: rate))
        guard due > now, due < now + 2 * length else { return }
        waits &+= 1
        let early = waits % 8 == 0 ? length * Int64(waits / 8 % 7 + 1) / 8 : 0
        PCMCalls.sleep(until: due - early)
    }

    /// Sleeps until `due` and until `excess` frames have been played since the observation at `seenAt`; times are
    /// nanoseconds. With a card that takes many frames at a time, the thread wakes at most twice per period. `isEarly`
    /// is true if the last wake-up was too early.
    @_noAllocation @_noLocks
    private func sleep(until due: Int64, andFor excess: Int, since seenAt: Int64, isEarly: Bool) {
        let now = PCMCalls.now()
        let least = isEarly && excess > 0 && quantum.quantum > 0 ? nanoseconds(period, at: rate) / 2 : 200_000
        let free = excess > 0 ? seenAt + nanoseconds(excess, at: rate) : due
        let wake = free > due ? free : due
        let longest = now + stall.timeout
        PCMCalls.sleep(until: wake < now + least ? now + least : (wake < longest ? wake : longest))
    }

    /// Returns the demands for the audio with which a prepared card starts, one period per call; nil when the queue is
    /// full. Silence fills the queue before the first audio, and replaces periods that are not due yet.
    @_noAllocation @_noLocks
    private mutating func fill() -> PlaybackEvent? {
        let now = PCMCalls.now()
        guard let missing = priming else {
            guard !isLearning else {
                writeSilence(frameCount: queue.generous)
                priming = 0
                return nil
            }
            var periods = 0
            let due = due
            if due > .min, now > due {
                let backlog = frames(in: now - due, at: rate) + period
                periods = (backlog < queue.target ? backlog : queue.target) / period
            }
            writeSilence(frameCount: queue.target - periods * period)
            priming = periods * period
            return fill()
        }
        guard missing > 0 else { return nil }
        let playedAt = now + nanoseconds(queue.target - missing, at: rate)
        return demand(dueAt: due > .min ? due : now, playedAt: playedAt)
    }

    /// Whether the PCM, whose queue is empty, has no clock. If so, sets the clock that replaces the card's.
    @_noAllocation @_noLocks
    private mutating func hasNoClock() -> Bool {
        let trial = device.tryClock()
        (written, silence) = (written + trial.written, silence + trial.written)
        if !trial.hasClock { clock = FreeRunningClock(rate: rate, now: PCMCalls.now()) }
        return !trial.hasClock
    }

    @_noAllocation @_noLocks
    private mutating func writeSilence(frameCount: Int) {
        let taken = device.writeSilence(upTo: frameCount)
        (written, silence) = (written + taken, silence + taken)
    }

    /// Starts the card. Returns an event only if the start fails.
    @_noAllocation @_noLocks
    private mutating func start() -> PlaybackEvent? {
        let code = device.start()
        stall.reset()
        quantum.reset()
        priming = nil
        moves = 0
        lastSeen = PCMCalls.now()
        let fill = isLearning ? queue.generous : queue.target
        lastPosition = written - fill
        quantum.record(position: lastPosition - silence, at: lastSeen)
        return code < 0 ? reportLoss(CardLoss(code: code)) : nil
    }

    @_noAllocation @_noLocks
    private mutating func recover(from cause: Interruption.Cause) -> PlaybackEvent {
        recoveries += 1
        // Without this check, a card that stops immediately after each start would be restarted forever.
        guard recoveries < 8 else { return reportLoss(.stalled) }
        if case .xrun = cause, clock == nil {
            let now = PCMCalls.now()
            let isLate = isLate(at: now)
            queue.underrun(isLate: isLate, at: now)
            if isLearning, !isLate { queue.learningFailed() }
            isLearning = isLearning || !isLate
        }
        if let loss = device.makeReady(after: cause) { return reportLoss(loss) }
        freeRun.reset()
        clock = nil
        priming = nil
        schedule.interrupt()
        return .interrupted(counts.record(Interruption(cause, missed: 0)))
    }

    /// Whether our thread woke later than the queue allows. If no schedule is known, this is decided by the time since
    /// the last observation.
    @_noAllocation @_noLocks
    private func isLate(at now: Int64) -> Bool {
        let isKnown = !isLearning && !schedule.isProvisional && due > .min
        // The part of the lead that must be left over, or our thread counts as late. It is shorter for a sound server,
        // which may cause an underrun itself by taking its quantum slightly earlier than before.
        let slack = quantum.quantum > 0 ? period / 2 : period
        return frames(in: now - (isKnown ? due : lastSeen), at: rate) > queue.lead - slack
    }
}

// MARK: Pacing by the monotonic clock: lost cards, and PCMs without a clock
extension PlaybackCard {
    @_noAllocation @_noLocks
    private mutating func reportLoss(_ loss: CardLoss) -> PlaybackEvent {
        let now = PCMCalls.now()
        lostCard.begin(&device, now: now)
        clock = FreeRunningClock(rate: rate, now: now)
        recoveries = 0
        priming = nil
        let late = due > .min ? frames(in: now - due, at: rate) : 0
        return .interrupted(counts.record(Interruption(.lost(loss), missed: late)))
    }

    @_noAllocation @_noLocks
    private mutating func waitForTheCard() -> PlaybackEvent {
        guard lostCard.isBack(&device) else { return demandByTheClock() }
        queue.fit(buffer: device.negotiated.buffer)
        device.setAvailMin(queue.availMin)
        clock = nil
        stall.reset()
        freeRun.reset()
        isLearning = true
        schedule.interrupt()
        return .interrupted(counts.record(Interruption(.reopened, missed: 0)))
    }

    /// Waits for a PCM without a clock: the monotonic clock paces the demands, and only a failed write shows the PCM's
    /// state.
    @_noAllocation @_noLocks
    private mutating func waitByTheClock() -> PlaybackEvent {
        let code = writeError
        writeError = 0
        switch RecoveryAction(code: code, state: .running) {
        case .proceed, .waitBriefly, .start: return demandByTheClock()
        case .prepare: return recover(from: .xrun)
        case .resume: return recover(from: .suspended)
        case .giveUp(let loss): return reportLoss(loss)
        }
    }

    @_noAllocation @_noLocks
    private mutating func demandByTheClock() -> PlaybackEvent {
        guard var clock else { return .interrupted(Interruption(.xrun, missed: 0)) }
        let due = clock.due(period)
        PCMCalls.sleep(until: due)
        let missed = clock.pass(period, now: PCMCalls.now())
        self.clock = clock
        counts.missed.rawValue += missed
        schedule.pace(written - silence, at: due)
        return demand(dueAt: due, playedAt: due + nanoseconds(queue.target, at: rate))
    }
}
