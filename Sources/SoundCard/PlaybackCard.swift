import Glibc
public import Sound

/// A sound card that plays, its queue kept short and even.
///
/// Wait, write what was demanded, wait again, all from one thread (any one; the card may be moved between). Nothing here
/// allocates or takes a lock of ours after `init`, as long as the card is there.
///
/// The arithmetic of the queue, in frames: it is filled up to `target` and not beyond. A period may be written when the
/// fill is `target − period` or less, and since ALSA counts what is free, the card is told to wake us at
/// `buffer − target + period` free frames (`avail_min`). So with a target of two periods the queue holds between one and
/// two of them, however large the buffer is. What lies in the queue beyond the target, for whatever reason, is played
/// before the next demand comes.
///
/// It starts with the target full of silence, on the first `wait`, and so after an underrun. A card that is lost is
/// looked for again after 0.25 s, then twice as long each time up to 5 s; meanwhile demands come by the clock.
/// A PCM that is no clock (`null`, `file` on it) is found out in its first quarter of a second and paced by ours.
@safe public struct PlaybackCard: ~Copyable {
    /// What was granted at `init`. A card that comes back after a loss comes back with the same rate.
    public let granted: GrantedSound
    /// The most that is queued.
    public let target: FrameCount
    public private(set) var counts = InterruptionCounts()

    private var device: PCMDevice
    private let channelCount: Int
    private let period: Int
    private let rate: Int
    /// Frames given to the card.
    private var written = 0
    /// When the next frame would be heard if nothing broke; nil before the first.
    private var expected: Int64?
    /// What the last write met with, for the next wait to mend; zero when all was well.
    private var troubleCode: Int32 = 0
    /// Something was written since the last demand, so that there is nothing to ask the card before it wakes us.
    private var isFed = false
    private var stall: StallWatch
    private var pace: PaceWatch
    /// In place of the card's: while it is lost, or when it has none.
    private var clock: FreeRunningClock?
    private var search: Backoff?
    /// Underruns in a row without a demand between them.
    private var recoveries = 0

    /// Opens `device` (`hw:1`, `plughw:CARD=USB`, `default`, … exactly as given) and takes the nearest to what is wanted,
    /// the rate first of all: resample where `granted.format.rate` is another. Allocates and may take long.
    ///
    /// - `period`: how much is demanded at a time, at `format.rate`.
    /// - `periodCount`: periods in the card's buffer, 2…4 for live sound.
    /// - `target`: the most that is queued, at `format.rate`: two periods when nil, kept between one and a half periods
    ///   and the buffer.
    public init(
        device: String, format: LPCMFormat = .mono, period: FrameCount, periodCount: Int = 4, target: FrameCount? = nil
    ) throws(SoundCardError) {
        precondition(period > .zero && periodCount > 1, "a card plays one period while another is written")
        let wish = Wish(
            format: format, period: period.rawValue, periodCount: periodCount,
            queue: target?.rawValue ?? 2 * period.rawValue)
        self.device = try PCMDevice(device, .playback, wish)
        channelCount = format.channelCount
        granted = GrantedSound(of: self.device, channelCount: format.channelCount)
        let grant = self.device.grant
        self.target = FrameCount(grant.queue)
        self.period = grant.period
        rate = grant.rate
        stall = StallWatch(period: grant.period, rate: grant.rate)
        pace = PaceWatch(buffer: grant.buffer, rate: grant.rate)
    }

    /// Waits until the card wants a period of sound or something happened to it, half a second at most or eight periods
    /// where they are longer. Sleeps all the while.
    @_noAllocation @_noLocks
    public mutating func wait() -> PlaybackTurn {
        if clock != nil { return search == nil ? waitByTheClock() : waitForTheCard() }
        var (hasBegun, hasRested) = (false, isFed)
        if isFed {
            isFed = false
            if let turn = rest(for: period, hasRested: false) { return turn }
        }
        while true {
            let seen = device.observe()
            let code = troubleCode < 0 ? troubleCode : seen.code
            troubleCode = 0
            switch Remedy(code: code, state: seen.state) {
            case .start:
                // One that is started and does not run would have us start it for ever.
                if hasBegun { return lose(.stalled) }
                if let turn = begin() { return turn }
                hasBegun = true
            case .prepare: return recover(from: .xrun)
            case .resume: return recover(from: .suspended)
            case .giveUp(let loss): return lose(loss)
            case .waitALittle, .goOn:
                let fill = device.grant.buffer - seen.available
                let excess = fill - (target.rawValue - period)
                if excess <= 0 { return demand(seen, fill: fill) }
                if stall.standsStill(at: written - fill, now: seen.at) { return lose(.stalled) }
                if let turn = rest(for: excess, hasRested: hasRested) { return turn }
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
                // Full. Not even `poll` is trusted here: one that always says "ready" must not make us spin.
                _ = device.poll(atMost: nanoseconds(period, at: rate))
                PCMCalls.sleep(until: now + nanoseconds(period, at: rate) / 4)
                if now - refusedSince > stall.patience { troubleCode = -EIO }
            default: troubleCode = Int32(truncatingIfNeeded: taken)
            }
        }
        written += frameCount
        isFed = troubleCode == 0 && done > 0
        if let due = expected { expected = due + nanoseconds(frameCount, at: rate) }
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
    @_noAllocation @_noLocks
    private mutating func demand(_ seen: Observation, fill: Int) -> PlaybackTurn {
        if pace.runsAway(at: written - fill, now: seen.at) {
            clock = FreeRunningClock(rate: rate, now: seen.at)
        }
        stall.forget()
        recoveries = 0
        let playedAt = seen.at + nanoseconds(seen.delay > 0 ? seen.delay : 0, at: rate)
        expected = playedAt
        return .demand(Demand(frameCount: period, playedAt: playedAt, position: written))
    }

    /// Sleeps until `excess` frames have been played, or nearly.
    @_noAllocation @_noLocks
    private mutating func rest(for excess: Int, hasRested: Bool) -> PlaybackTurn? {
        switch device.rest(for: excess, hasRested: hasRested, atMost: stall.patience) {
        case .none: return nil
        case .some(let loss): return lose(loss)
        }
    }

    /// Fills the queue with silence up to the target and starts. Returns a turn only if that goes wrong.
    @_noAllocation @_noLocks
    private mutating func begin() -> PlaybackTurn? {
        var missing = target.rawValue
        while missing > 0 {
            let taken = device.writeSilence(frameCount: missing)
            guard taken > 0 else { break }
            missing -= taken
            written += taken
        }
        let code = device.start()
        stall.forget()
        return code < 0 ? lose(Loss(code: code)) : nil
    }

    @_noAllocation @_noLocks
    private mutating func recover(from cause: Interruption.Cause) -> PlaybackTurn {
        recoveries += 1
        // A card that stops as soon as it is started would keep us busy for ever.
        guard recoveries < 8 else { return lose(.stalled) }
        if let loss = device.makeReady(after: cause) { return lose(loss) }
        if let turn = begin() { return turn }
        pace.forget()
        clock = nil
        return .interrupted(counts.note(Interruption(cause, missed: gap())))
    }

    /// How much later the next frame will be heard than it would have been.
    @_noAllocation @_noLocks
    private mutating func gap() -> Int {
        let next = PCMCalls.now() + nanoseconds(target.rawValue, at: rate)
        guard let expected else { return 0 }
        self.expected = next
        return frames(in: next - expected, at: rate)
    }
}

// What goes on without a card, or with one that is no clock.
extension PlaybackCard {
    @_noAllocation @_noLocks
    private mutating func lose(_ loss: Loss) -> PlaybackTurn {
        let now = PCMCalls.now()
        device.close()
        search = Backoff(now: now)
        clock = FreeRunningClock(rate: rate, now: now)
        recoveries = 0
        return .interrupted(counts.note(Interruption(.lost(loss), missed: gap())))
    }

    @_noAllocation @_noLocks
    private mutating func waitForTheCard() -> PlaybackTurn {
        guard let next = search?.nextAttempt, PCMCalls.now() >= next else { return demandByTheClock() }
        // It allocates and may take long, which does not matter while there is nothing to play on.
        guard device.reopen() else {
            search?.failed(now: PCMCalls.now())
            return demandByTheClock()
        }
        search = nil
        clock = nil
        stall.forget()
        pace.forget()
        return .interrupted(counts.note(Interruption(.reopened, missed: gap())))
    }

    /// With a PCM that takes everything at once there is nothing to ask it but whether it still takes.
    @_noAllocation @_noLocks
    private mutating func waitByTheClock() -> PlaybackTurn {
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
    private mutating func demandByTheClock() -> PlaybackTurn {
        guard var clock else { return .interrupted(Interruption(.xrun, missed: 0)) }
        let due = clock.due(period)
        PCMCalls.sleep(until: due)
        let missed = clock.pass(period, now: PCMCalls.now())
        self.clock = clock
        counts.missed.rawValue += missed
        let playedAt = due + nanoseconds(target.rawValue, at: rate)
        expected = playedAt
        return .demand(Demand(frameCount: period, playedAt: playedAt, position: written))
    }
}

extension GrantedSound {
    init(of device: borrowing PCMDevice, channelCount: Int) {
        let grant = device.grant
        self.init(
            device: device.name, cardName: device.cardName,
            format: LPCMFormat(rate: SampleRate(hertz: grant.rate), channelCount: channelCount),
            sampleFormat: grant.sampleFormat.name, cardChannelCount: grant.channelCount,
            period: FrameCount(grant.period), buffer: FrameCount(grant.buffer))
    }
}
