import Glibc
public import TenfourAudioCore

/// A sound card that captures. Audio that has waited too long is discarded.
///
/// Call `read` repeatedly from one thread at a time. After `init`, no method allocates or takes a lock of ours while
/// the card is present.
///
/// Capturing starts with the first `read`, and again after an overrun. The thread sleeps until the card should have
/// captured the number of frames given to `init`. Sound servers deliver bursts (`QuantumEstimator`). After a stall, if
/// the waiting audio exceeds both 60 ms and two bursts plus one `read`, its older part is discarded and counted. A card
/// with a short buffer reports an overrun, but PulseAudio's never does, so the waiting audio is also computed from the
/// monotonic clock. A lost card is reopened after 0.25 s, then after twice as long each time, up to 5 s; meanwhile the
/// monotonic clock paces silence. A PCM without a clock (`null`, `file`) is detected within 0.25 s and paced by the
/// monotonic clock.
@safe public struct CaptureCard: ~Copyable {
    /// The format negotiated in `init`. A reopened card is read in the same format.
    public let granted: NegotiatedFormat
    /// The best number of frames per `read`, at the granted rate: the `frame` of `init`, limited by the buffer.
    public let frame: FrameCount
    public private(set) var counts = InterruptionCounts()
    /// Collects the differences between a reopened card and the card before its loss.
    public var changes: CardChanges { lostCard.changes }

    private var device: PCMDevice
    private let channelCount: Int
    private let period: Int
    private let rate: Int
    /// The number of frames captured so far.
    private var capturedCount = 0
    /// The time at which the card was last started, in nanoseconds of the monotonic clock.
    private var startedAt: Int64 = 0
    /// The number of frames captured before the last start.
    private var countAtStart = 0
    /// The time (nanoseconds) at which the next frame was or will be at the microphone; nil if unknown.
    private var expected: Int64?
    private var quantum: QuantumEstimator
    private var stall: StallDetector
    private var freeRun: FreeRunDetector
    /// The replacement for the card's clock, which paces capture by the monotonic clock. It is set while the card is
    /// lost, and always for a PCM without a clock; otherwise nil.
    private var clock: FreeRunningClock?
    private var lostCard = LostCard()
    /// The number of overruns since the last captured frame.
    private var recoveries = 0

    /// Opens `device` (`hw:1`, `plughw:CARD=USB`, `default`, …, exactly as given) with the supported parameters nearest
    /// to the requested ones. The rate has priority; if `granted.format.rate` differs from the requested rate, the
    /// caller must resample. Allocates, and may take long.
    ///
    /// - `period`: frames between two interrupts, at `format.rate`. A sound server delivers at least as often.
    ///
    /// - `frame`: frames per `read`, at `format.rate`, preferably a multiple of `period`; nil: one period.
    public init(
        device: String, format: LPCMFormat = .mono, period: FrameCount, frame: FrameCount? = nil
    ) throws(SoundCardError) {
        precondition(period > .zero, "a card captures one period while another is read")
        self.device = try PCMDevice(
            device, .capture,
            RequestedParameters(
                format: format, period: period.rawValue, queue: max(1, frame?.rawValue ?? period.rawValue)))
        granted = NegotiatedFormat(of: self.device, channelCount: format.channelCount)
        channelCount = format.channelCount
        let negotiated = self.device.negotiated
        self.frame = FrameCount(negotiated.queue)
        self.period = negotiated.period
        rate = negotiated.rate
        quantum = QuantumEstimator(rate: negotiated.rate)
        stall = StallDetector(period: negotiated.period, rate: negotiated.rate)
        freeRun = FreeRunDetector(buffer: min(negotiated.buffer, 4 * negotiated.period), rate: negotiated.rate)
    }

    /// Configures the card for a thread that reads without real-time priority. Requests bursts of two periods from a
    /// sound server, because its thread in this process then has ordinary priority too and needs more time. Call before
    /// the first `read`.
    public mutating func allowForLateWakeups() { device.setAvailMin(2 * period) }

    /// Whether the card is closed or lost, and `read` returns silence in its place.
    public var isAwaited: Bool { lostCard.isLost }

    /// Closes the card, so that nothing is captured and other programs may have it. Until `reopen`, `read` returns silence
    /// at the pace of the monotonic clock. Not for a thread that must not wait.
    public mutating func close() {
        guard !lostCard.isClosed else { return }
        lostCard.close(&device)
        clock = FreeRunningClock(rate: rate, now: PCMCalls.now())
        recoveries = 0
    }

    /// Opens a card again that `close` has closed. It is opened on another thread, and `read` reports `.reopened`; a card
    /// that is gone is opened as soon as it is back.
    public mutating func reopen() { if lostCard.isClosed { lostCard.reopen(now: PCMCalls.now()) } }

    /// Fills `samples` (interleaved, whole frames of `granted.format`) with the next captured audio, or returns an
    /// interruption. Sleeps until the audio has been captured. If nothing is captured for half a second or eight
    /// periods, whichever is longer, returns the loss of the card.
    @_noAllocation @_noLocks
    public mutating func read(into samples: inout MutableSpan<Float>) -> CaptureEvent {
        let wanted = samples.count / channelCount
        if clock != nil {
            return lostCard.isLost ? readWithoutCard(&samples, wanted) : readByTheClock(&samples, wanted)
        }
        var (done, capturedAt) = (0, Int64(0))
        var (hasStarted, hasSlept, hasTrimmed) = (false, false, false)
        while true {
            let seen = device.observe()
            switch RecoveryAction(code: seen.code, state: seen.state) {
            case .start:
                // Without this check, a card that is started but does not run would be restarted forever.
                if hasStarted { return reportLoss(.stalled) }
                if let event = start() { return event }
                hasStarted = true
            case .prepare: return recover(from: .xrun)
            case .resume: return recover(from: .suspended)
            case .giveUp(let loss): return reportLoss(loss)
            case .waitBriefly, .proceed:
                quantum.record(position: capturedCount + seen.available, at: seen.at)
                if done == 0 {
                    if !hasTrimmed, let event = trim(seen, wanted: wanted) { return event }
                    hasTrimmed = true
                    capturedAt =
                        seen.at - nanoseconds(seen.delay > seen.available ? seen.delay : seen.available, at: rate)
                }
                let missing = wanted - done < frame.rawValue ? wanted - done : frame.rawValue
                if seen.available < missing {
                    if stall.isStalled(at: capturedCount + seen.available, now: seen.at) { return reportLoss(.stalled) }
                    if let event = sleep(for: missing - seen.available, since: seen, isEarly: hasSlept) { return event }
                    hasSlept = true
                    continue
                }
                let count = read(into: &samples, from: done, frameCount: missing)
                if count == -EAGAIN {
                    // Sleeps before the next attempt, because the card announced frames but returned none.
                    if stall.isStalled(at: capturedCount, now: seen.at) { return reportLoss(.stalled) }
                    PCMCalls.sleep(until: seen.at + nanoseconds(missing, at: rate))
                    continue
                }
                if count < 0 {
                    switch RecoveryAction(code: Int32(truncatingIfNeeded: count), state: .running) {
                    case .giveUp(let loss): return reportLoss(loss)
                    case .resume: return recover(from: .suspended)
                    case .prepare: return recover(from: .xrun)
                    case .proceed, .start, .waitBriefly: continue
                    }
                }
                done += count
                hasSlept = false
                guard done >= wanted else { continue }
                return captured(wanted, at: capturedAt, now: seen.at)
            }
        }
    }
}

// Sendable, since a noncopyable value is on one thread at a time.
extension CaptureCard: @unchecked Sendable {}

// MARK: Reading
extension CaptureCard {
    /// Reads up to `frameCount` frames into `samples`, from frame `first` on. Returns the number of frames read, never
    /// zero, or a negative errno.
    @_noAllocation @_noLocks
    private mutating func read(into samples: inout MutableSpan<Float>, from first: Int, frameCount: Int) -> Int {
        let count = device.read(into: &samples, channelCount: channelCount, from: first, frameCount: frameCount)
        if count > 0 { capturedCount += count }
        return count == 0 ? Int(-EAGAIN) : count
    }

    @_noAllocation @_noLocks
    private mutating func captured(_ count: Int, at capturedAt: Int64, now: Int64) -> CaptureEvent {
        if freeRun.isFreeRunning(at: capturedCount, now: now) { clock = FreeRunningClock(rate: rate, now: now) }
        stall.reset()
        recoveries = 0
        expected = capturedAt + nanoseconds(count, at: rate)
        return .captured(at: Instant(nanoseconds: capturedAt))
    }

    /// Discards all but the newest `wanted` frames if too many frames are waiting. Returns an event if frames were
    /// discarded.
    @_noAllocation @_noLocks
    private mutating func trim(_ seen: Observation, wanted: Int) -> CaptureEvent? {
        let byClock = frames(in: seen.at - (expected ?? seen.at), at: rate)
        let waiting = byClock > seen.available ? byClock : seen.available
        let burst = quantum.quantum > period ? quantum.quantum : period
        let worth = wanted + 2 * burst > rate * 60 / 1_000 ? wanted + 2 * burst : rate * 60 / 1_000
        // Discards nothing of a PCM without a clock: such a PCM always offers more frames than can have been captured
        // since its start.
        let passed = frames(in: seen.at - startedAt, at: rate)
        guard waiting > worth, capturedCount - countAtStart + seen.available <= passed + 2 * burst else { return nil }
        var dropped = 0
        while dropped < waiting - wanted {
            let count = device.discard(frameCount: waiting - wanted - dropped)
            guard count > 0 else { break }
            dropped += count
        }
        guard dropped > 0 else { return nil }
        capturedCount += dropped
        expected = nil
        freeRun.reset()
        return .interrupted(counts.record(Interruption(.backlog, missed: dropped)))
    }

    /// Sleeps until the card has captured about `missing` more frames than in the observation `seen`. `isEarly` is true
    /// if an earlier sleep of the same `read` was too short. Returns an event if the card is lost.
    @_noAllocation @_noLocks
    private mutating func sleep(for missing: Int, since seen: Observation, isEarly: Bool) -> CaptureEvent? {
        switch device.sleep(for: missing, since: seen, isEarly: isEarly, atMost: stall.timeout) {
        case .none: return nil
        case .some(let loss): return reportLoss(loss)
        }
    }

    @_noAllocation @_noLocks
    private mutating func start() -> CaptureEvent? {
        let code = device.start()
        stall.reset()
        quantum.reset()
        (startedAt, countAtStart) = (PCMCalls.now(), capturedCount)
        return code < 0 ? reportLoss(CardLoss(code: code)) : nil
    }

    @_noAllocation @_noLocks
    private mutating func recover(from cause: Interruption.Cause) -> CaptureEvent {
        recoveries += 1
        // Without this check, a card that stops immediately after each start would be restarted forever.
        guard recoveries < 8 else { return reportLoss(.stalled) }
        if let loss = device.makeReady(after: cause) { return reportLoss(loss) }
        if let event = start() { return event }
        freeRun.reset()
        clock = nil
        return .interrupted(counts.record(Interruption(cause, missed: gap())))
    }

    /// Returns the number of frames missed since the last frame that was read.
    @_noAllocation @_noLocks
    private mutating func gap() -> Int {
        let now = PCMCalls.now()
        let missed = frames(in: now - (expected ?? now), at: rate)
        expected = now
        return missed
    }
}

// MARK: Pacing by the monotonic clock: lost cards, and PCMs without a clock
extension CaptureCard {
    @_noAllocation @_noLocks
    private mutating func reportLoss(_ loss: CardLoss) -> CaptureEvent {
        let now = PCMCalls.now()
        lostCard.begin(&device, now: now)
        clock = FreeRunningClock(rate: rate, now: now)
        recoveries = 0
        return .interrupted(counts.record(Interruption(.lost(loss), missed: gap())))
    }

    @_noAllocation @_noLocks
    private mutating func readWithoutCard(_ samples: inout MutableSpan<Float>, _ wanted: Int) -> CaptureEvent {
        if lostCard.isBack(&device) {
            clock = nil
            stall.reset()
            freeRun.reset()
            return .interrupted(counts.record(Interruption(.reopened, missed: gap())))
        }
        for index in samples.indices { samples[index] = 0 }
        return passByTheClock(wanted)
    }

    /// Reads from a PCM without a clock, which returns as many frames as requested.
    @_noAllocation @_noLocks
    private mutating func readByTheClock(_ samples: inout MutableSpan<Float>, _ wanted: Int) -> CaptureEvent {
        var done = 0
        while done < wanted {
            let count = read(into: &samples, from: done, frameCount: wanted - done)
            if count > 0 {
                done += count
                continue
            }
            switch RecoveryAction(code: Int32(truncatingIfNeeded: count), state: .running) {
            case .giveUp(let loss): return reportLoss(loss)
            case .resume: return recover(from: .suspended)
            // Treats the PCM again as one with a clock, because it did not return all frames immediately.
            case .prepare, .proceed, .start, .waitBriefly: return recover(from: .xrun)
            }
        }
        return passByTheClock(wanted)
    }

    @_noAllocation @_noLocks
    private mutating func passByTheClock(_ count: Int) -> CaptureEvent {
        guard var clock else { return .captured(at: Instant(nanoseconds: PCMCalls.now())) }
        let capturedAt = clock.due(0)
        PCMCalls.sleep(until: clock.due(count))
        counts.missed.rawValue += clock.pass(count, now: PCMCalls.now())
        self.clock = clock
        expected = clock.due(0)
        return .captured(at: Instant(nanoseconds: capturedAt))
    }
}
