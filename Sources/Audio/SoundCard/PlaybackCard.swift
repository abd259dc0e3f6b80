import Glibc
public import TenfourAudioCore

/// A sound card that plays, its queue kept as short as the card allows.
///
/// Wait, write what was demanded, wait again, all from one thread (any one; the card may be moved between). Nothing here
/// allocates or takes a lock of ours after `init`, as long as the card is there.
///
/// A period is demanded shortly before the card takes it and not sooner, period by period, evenly, also where a sound server takes
/// many frames at once (`DemandSchedule`). How long before, and how many frames it takes at once, changes: `PlaybackQueue`
/// follows. The card's buffer is long, since its length costs no delay; the queue alone does. The thread sleeps by the clock and
/// looks where the card is, so no wake-up of the card's is needed.
///
/// It starts with a generous queue of silence, on the first `wait`, and learns the quantum from it in at most 50 ms; so it does when
/// the quantum has become longer. After an underrun because the thread was late what is due by then is demanded at once and played
/// next, behind silence only for what is not due yet. A card that is lost is looked for again after 0.25 s, then twice
/// as long each time up to 5 s; meanwhile demands come by the clock. A PCM that is no clock (`null`, `file` on it) is found out in
/// its first half second and paced by ours.
@safe public struct PlaybackCard: ~Copyable {
    /// What was granted at `init`. A card that comes back after a loss is given the same rate, period and channels.
    public let granted: NegotiatedFormat
    public private(set) var counts = InterruptionCounts()
    /// Is told when a card that comes back grants something else than before.
    public let changes = CardChanges()

    private var device: PCMDevice
    private let channelCount: Int
    private let period: Int
    private let rate: Int
    private var queue: PlaybackQueue
    private var quantum: QuantumEstimator
    private var schedule: DemandSchedule
    /// Frames given to the card, and how many of them are silence that nobody demanded.
    private var written = 0
    private var silence = 0
    /// Frames still to be demanded before a prepared card is started; nil while it runs.
    private var priming: Int?
    /// The queue is generous and is not written to until the quantum is known.
    private var isLearning = true
    /// When the card was last seen (nanoseconds).
    private var lastSeen: Int64 = 0
    /// How often the card has been seen to move since its start.
    private var moves = 0
    private var lastPosition = 0
    /// What the last write met with, for the next wait to recover from; zero when all was well.
    private var troubleCode: Int32 = 0
    private var stall: StallDetector
    private var pace: FreeRunDetector
    /// In place of the card's: while it is lost, or when it has none.
    private var clock: FreeRunningClock?
    private var search: Backoff?
    private var reopening = CardReopening()
    /// Counts the sleeps ahead.
    private var waits = 0
    /// Underruns in a row without a demand between them.
    private var recoveries = 0

    /// The most that is queued, at the granted rate: just before the card takes from it.
    public var target: FrameCount { FrameCount(queue.target) }

    /// Opens `device` (`hw:1`, `plughw:CARD=USB`, `default`, … exactly as given) and takes the nearest to what is wanted,
    /// the rate first of all: resample where `granted.format.rate` is another. Allocates and may take long.
    ///
    /// - `period`: how much is demanded at a time, at `format.rate`.
    /// - `target`: the most that is queued where the card takes frame by frame, at `format.rate`: two periods when nil, kept
    ///   between one and a half periods and the buffer.
    public init(
        device: String, format: LPCMFormat = .mono, period: FrameCount, target: FrameCount? = nil
    ) throws(SoundCardError) {
        precondition(period > .zero, "a card plays one period while another is written")
        let wish = RequestedParameters(format: format, period: period.rawValue, queue: target?.rawValue ?? 2 * period.rawValue)
        self.device = try PCMDevice(device, .playback, wish)
        channelCount = format.channelCount
        granted = NegotiatedFormat(of: self.device, channelCount: format.channelCount)
        let grant = self.device.grant
        self.period = grant.period
        rate = grant.rate
        queue = PlaybackQueue(asked: grant.queue, period: grant.period, buffer: grant.buffer, rate: grant.rate)
        quantum = QuantumEstimator(rate: grant.rate)
        schedule = DemandSchedule(period: grant.period, rate: grant.rate)
        stall = StallDetector(period: grant.period, rate: grant.rate)
        pace = FreeRunDetector(buffer: min(grant.buffer, 4 * grant.period), rate: grant.rate)
    }

    /// Says that the thread that will wait has no real-time priority: more is queued, and a sound server is asked to take more at a
    /// time. Before the first `wait`.
    public mutating func expectLateness() {
        queue.expectLateness()
        device.setAvailMin(queue.availMin)
    }

    /// Waits until the card wants a period of sound or something happened to it, half a second at most or eight periods
    /// where they are longer. Sleeps all the while.
    @_noAllocation @_noLocks
    public mutating func wait() -> PlaybackEvent {
        if clock != nil { return search == nil ? waitByTheClock() : waitForTheCard() }
        var (hasBegun, hasRested) = (false, false)
        sleepAhead()
        while true {
            let seen = device.observe()
            let code = troubleCode < 0 ? troubleCode : seen.code
            troubleCode = 0
            switch Remedy(code: code, state: seen.state) {
            case .start:
                // One that is started and does not run would have us start it for ever.
                if hasBegun { return lose(.stalled) }
                if let turn = fill() ?? start() { return turn }
                hasBegun = true
            case .prepare: return recover(from: .xrun)
            case .resume: return recover(from: .suspended)
            case .giveUp(let loss): return lose(loss)
            case .waitALittle, .goOn:
                let fill = device.grant.buffer - seen.available
                if let turn = follow(seen, fill: fill) { return turn }
                let due = isLearning ? seen.at + nanoseconds(period, at: rate) / 4 : due
                let excess = isLearning ? 0 : fill - (queue.most - period)
                if due <= seen.at, excess <= 0 { return demand(seen, due: due, fill: fill) }
                if stall.standsStill(at: written - fill, now: seen.at) { return lose(.stalled) }
                rest(until: due, andFor: excess, since: seen.at, isEarly: hasRested)
                hasRested = true
            }
        }
    }

    /// Gives `samples` to the card: interleaved, of `granted.format`'s channels, a whole number of frames, as a rule what
    /// was demanded. Waits for room only where more is written than the buffer takes. What goes wrong here is told by
    /// the next `wait`; what a lost card is given is gone.
    @_noAllocation @_noLocks
    public mutating func write(_ samples: Span<Float>) {
        let frameCount = samples.count / channelCount
        var done = 0
        var refusedSince: Int64 = 0
        while done < frameCount && search == nil && troubleCode == 0 {
            let taken = device.write(samples, channelCount: channelCount, from: done, frameCount: frameCount - done)
            if taken > 0 {
                done += taken
                refusedSince = 0
                continue
            }
            let now = PCMCalls.now()
            if refusedSince == 0 { refusedSince = now }
            switch Remedy(code: Int32(truncatingIfNeeded: taken), state: .running) {
            case .goOn, .waitALittle:
                PCMCalls.sleep(until: now + nanoseconds(period, at: rate) / 4)
                if now - refusedSince > stall.patience { troubleCode = -EIO }
            default: troubleCode = Int32(truncatingIfNeeded: taken)
            }
        }
        written += frameCount
        if let missing = priming { priming = missing - frameCount }
    }

    /// Lets the card play what it was given, then returns: after what is queued and half a second at the latest.
    public mutating func drain() {
        guard clock == nil else { return }
        let deadline = PCMCalls.now() + nanoseconds(device.grant.buffer, at: rate) + nanosecondsPerSecond / 2
        while PCMCalls.now() < deadline {
            let seen = device.observe()
            guard seen.code == 0, seen.state == .running, seen.delay > 0 else { return }
            PCMCalls.sleep(until: seen.at + nanoseconds(min(seen.delay, period), at: rate))
        }
    }
}

// Moved from thread to thread as a whole, and never in two at once: that is what not being copyable means.
extension PlaybackCard: @unchecked Sendable {}

// How the queue is kept.
extension PlaybackCard {
    /// Keeps account of where the card is. Returns a turn once a card that was interrupted has shown where it is again.
    @_noAllocation @_noLocks
    private mutating func follow(_ seen: Observation, fill: Int) -> PlaybackEvent? {
        let position = written - fill
        if position > lastPosition {
            moves += 1
            if moves == 1 {
                // A sound server may take its time before it begins. Its first step is a quantum.
                quantum.reset()
                quantum.record(position: lastPosition - silence, at: seen.at)
            } else if moves == 2, let first = quantum.origin,
                lastSeen - nanoseconds(position - silence, at: rate) > first + nanoseconds(period, at: rate)
            {
                // PipeWire's plugin takes more at first, and then nothing for as long.
                quantum.forgetOrigin()
                quantum.record(position: position - silence, at: lastSeen)
            }
        }
        lastPosition = position
        quantum.record(position: position - silence, at: seen.at, keepsOrigin: queue.isHolding(at: seen.at))
        lastSeen = seen.at
        guard let origin = quantum.origin, moves > 0 else { return nil }
        // The first step after a start may be of any length.
        let isKnown = !schedule.isProvisional || moves > 2
        guard isLearning || isKnown else { return nil }
        let availMin = queue.availMin
        queue.adapt(toQuantum: quantum.quantum, largestStep: quantum.largestStep, at: seen.at)
        if queue.availMin != availMin { device.setAvailMin(queue.availMin) }
        if isLearning {
            // Until the generous queue has run down to what is needed.
            guard seen.at >= schedule.due(written - silence, by: line(from: origin)) else { return nil }
            queue.settle(at: seen.at)
            isLearning = false
        }
        guard isKnown else { return nil }
        guard schedule.isProvisional else {
            schedule.follow(line(from: origin))
            return nil
        }
        let (missed, behind) = schedule.resume(line(from: origin))
        return .interrupted(counts.note(Interruption(.resumed, missed: missed, behind: behind)))
    }

    @_noAllocation @_noLocks
    private func line(from origin: Int64) -> DemandSchedule.Line {
        DemandSchedule.Line(origin: origin, quantum: quantum.quantum, lead: queue.lead)
    }

    /// When what is not written yet is due; at once before anything is known of the card.
    private var due: Int64 { @_noAllocation @_noLocks get { schedule.due(written - silence) ?? .min } }

    @_noAllocation @_noLocks
    private mutating func demand(_ seen: Observation, due: Int64, fill: Int) -> PlaybackEvent {
        if pace.runsAway(at: written - fill, now: seen.at) {
            clock = FreeRunningClock(rate: rate, now: seen.at)
        }
        stall.forget()
        recoveries = 0
        let playedAt = seen.at + nanoseconds(seen.delay > 0 ? seen.delay : 0, at: rate)
        return demand(dueAt: due > .min ? due : seen.at, playedAt: playedAt)
    }

    @_noAllocation @_noLocks
    private mutating func demand(dueAt due: Int64, playedAt: Int64) -> PlaybackEvent {
        .demand(
            Demand(
                frameCount: period, requestedAt: due, shift: schedule.takeShift(), playedAt: playedAt, position: written
            ))
    }

    /// Sleeps until the next period is due without a look at the card before, where all goes well. Now and then it wakes sooner,
    /// each time at another moment: when a server takes its quantum is known only as well as looks fall all around it.
    @_noAllocation @_noLocks
    private mutating func sleepAhead() {
        guard !isLearning, priming == nil, !schedule.isProvisional, troubleCode == 0, due > .min else { return }
        let (now, length) = (PCMCalls.now(), nanoseconds(period, at: rate))
        guard due > now, due < now + 2 * length else { return }
        waits &+= 1
        let early = waits % 8 == 0 ? length * Int64(waits / 8 % 7 + 1) / 8 : 0
        PCMCalls.sleep(until: due - early)
    }

    /// Sleeps until `due` and until `excess` frames have been played. A card that takes many at a time is not asked more than twice
    /// a period (`isEarly`: it was asked in vain).
    @_noAllocation @_noLocks
    private func rest(until due: Int64, andFor excess: Int, since seenAt: Int64, isEarly: Bool) {
        let now = PCMCalls.now()
        let least = isEarly && excess > 0 && quantum.quantum > 0 ? nanoseconds(period, at: rate) / 2 : 200_000
        let free = excess > 0 ? seenAt + nanoseconds(excess, at: rate) : due
        let wake = free > due ? free : due
        let longest = now + stall.patience
        PCMCalls.sleep(until: wake < now + least ? now + least : (wake < longest ? wake : longest))
    }

    /// Demands what a prepared card is to begin with, period by period; before the first sound, and for what is not due yet,
    /// writes silence. Returns nil when the queue is full.
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

    @_noAllocation @_noLocks
    private mutating func writeSilence(frameCount: Int) {
        var missing = frameCount
        while missing > 0 {
            let taken = device.writeSilence(frameCount: missing)
            guard taken > 0 else { return }
            missing -= taken
            written += taken
            silence += taken
        }
    }

    /// Returns a turn only if that goes wrong.
    @_noAllocation @_noLocks
    private mutating func start() -> PlaybackEvent? {
        let code = device.start()
        stall.forget()
        quantum.reset()
        priming = nil
        moves = 0
        lastSeen = PCMCalls.now()
        let fill = isLearning ? queue.generous : queue.target
        lastPosition = written - fill
        quantum.record(position: lastPosition - silence, at: lastSeen)
        return code < 0 ? lose(CardLoss(code: code)) : nil
    }

    @_noAllocation @_noLocks
    private mutating func recover(from cause: Interruption.Cause) -> PlaybackEvent {
        recoveries += 1
        // A card that stops as soon as it is started would keep us busy for ever.
        guard recoveries < 8 else { return lose(.stalled) }
        if case .xrun = cause, clock == nil {
            let now = PCMCalls.now()
            let isLate = isLate(at: now)
            queue.underrun(isLate: isLate, at: now)
            if isLearning, !isLate { queue.learningFailed() }
            isLearning = isLearning || !isLate
        }
        if let loss = device.makeReady(after: cause) { return lose(loss) }
        pace.forget()
        clock = nil
        priming = nil
        schedule.interrupt()
        return .interrupted(counts.note(Interruption(cause, missed: 0)))
    }

    /// Whether our thread came later than the queue allows. While no line is known, the time since it looked last tells.
    @_noAllocation @_noLocks
    private func isLate(at now: Int64) -> Bool {
        let isKnown = !isLearning && !schedule.isProvisional && due > .min
        // A server may take its quantum a little sooner than it has so far; a card that takes frame by frame does not.
        let slack = quantum.quantum > 0 ? period / 2 : period
        return frames(in: now - (isKnown ? due : lastSeen), at: rate) > queue.lead - slack
    }
}

// What goes on without a card, or with one that is no clock.
extension PlaybackCard {
    /// Vetted: it allocates, but only while there is no card.
    @_semantics("no_performance_analysis")
    private mutating func isCardBack() -> Bool { device.isBack(&search, &reopening, changes) }

    @_noAllocation @_noLocks
    private mutating func lose(_ loss: CardLoss) -> PlaybackEvent {
        let now = PCMCalls.now()
        device.close()
        search = Backoff(now: now)
        clock = FreeRunningClock(rate: rate, now: now)
        recoveries = 0
        priming = nil
        let late = due > .min ? frames(in: now - due, at: rate) : 0
        return .interrupted(counts.note(Interruption(.lost(loss), missed: late)))
    }

    @_noAllocation @_noLocks
    private mutating func waitForTheCard() -> PlaybackEvent {
        guard isCardBack() else { return demandByTheClock() }
        queue.fit(buffer: device.grant.buffer)
        device.setAvailMin(queue.availMin)
        search = nil
        clock = nil
        stall.forget()
        pace.forget()
        isLearning = true
        schedule.interrupt()
        return .interrupted(counts.note(Interruption(.reopened, missed: 0)))
    }

    /// With a PCM that takes everything at once there is nothing to ask it but whether it still takes.
    @_noAllocation @_noLocks
    private mutating func waitByTheClock() -> PlaybackEvent {
        let code = troubleCode
        troubleCode = 0
        switch Remedy(code: code, state: .running) {
        case .goOn, .waitALittle, .start: return demandByTheClock()
        case .prepare: return recover(from: .xrun)
        case .resume: return recover(from: .suspended)
        case .giveUp(let loss): return lose(loss)
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

extension NegotiatedFormat {
    init(of device: borrowing PCMDevice, channelCount: Int) {
        let grant = device.grant
        self.init(
            device: device.name, cardName: device.cardName,
            format: LPCMFormat(rate: SampleRate(hertz: grant.rate), channelCount: channelCount),
            sampleFormat: grant.sampleFormat.name, cardChannelCount: grant.channelCount,
            period: FrameCount(grant.period), buffer: FrameCount(grant.buffer))
    }
}
