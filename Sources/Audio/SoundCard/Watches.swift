/// A second in the nanoseconds that ALSA and the clock speak.
var nanosecondsPerSecond: Int64 { @_noAllocation @_noLocks get { 1_000_000_000 } }

/// How long `frames` last, in nanoseconds; to the nearest below. Whole seconds apart, so that years do not overflow.
@_noAllocation @_noLocks
func nanoseconds(_ frames: Int, at rate: Int) -> Int64 {
    Int64(frames / rate) * nanosecondsPerSecond + Int64(frames % rate) * nanosecondsPerSecond / Int64(rate)
}

/// The frames in so many nanoseconds, to the nearest. `time` is kept within an hour so that nothing overflows.
@_noAllocation @_noLocks
func frames(in time: Int64, at rate: Int) -> Int {
    let hour = 3_600 * nanosecondsPerSecond
    let time = time > hour ? hour : (time < -hour ? -hour : time)
    let half = time < 0 ? -nanosecondsPerSecond / 2 : nanosecondsPerSecond / 2
    return Int((time * Int64(rate) + half) / nanosecondsPerSecond)
}

/// Notices a card whose position stands still.
struct StallDetector {
    /// Half a second, or eight periods where they are longer.
    let patience: Int64
    private var position = Int.min
    private var movedAt: Int64 = 0

    init(period: Int, rate: Int) { patience = max(nanosecondsPerSecond / 2, nanoseconds(8 * period, at: rate)) }

    /// `position` as the card gave it at `now` (nanoseconds). True when it has not moved for longer than the patience.
    @_noAllocation @_noLocks
    mutating func standsStill(at position: Int, now: Int64) -> Bool {
        if position != self.position {
            self.position = position
            movedAt = now
        }
        return now - movedAt > patience
    }

    /// Nobody looked for a while, or nothing was to move: patience begins anew.
    @_noAllocation @_noLocks
    mutating func forget() { position = Int.min }
}

/// Notices a PCM that is no clock: `null`, or `file` on it, takes and gives sound as fast as it is asked.
///
/// Watches ten seconds at a time, in which a real card gains at most milliseconds on its nominal rate.
struct FreeRunDetector {
    /// What a card may take at once: its buffer, and a quarter of a second for a server behind it.
    let slack: Int
    let rate: Int
    private var windowStart: Int64 = 0
    private var windowFrames = Int.max

    init(buffer: Int, rate: Int) {
        slack = buffer + rate / 4
        self.rate = rate
    }

    /// `frames` went through the PCM until `now` (nanoseconds), counted from any beginning. True when no clock held them.
    @_noAllocation @_noLocks
    mutating func runsAway(at frames: Int, now: Int64) -> Bool {
        if frames < windowFrames || now - windowStart > 10 * nanosecondsPerSecond {
            windowFrames = frames
            windowStart = now
        }
        return frames - windowFrames > slack + TenfourSoundCard.frames(in: now - windowStart, at: rate)
    }

    /// The card was stopped: what follows is a new beginning.
    @_noAllocation @_noLocks
    mutating func forget() { windowFrames = Int.max }
}

/// Sound time without a card: so many frames have passed since it was wound. Beyond a second behind, it starts anew.
struct FreeRunningClock {
    let rate: Int
    private var origin: Int64
    private var passed = 0

    /// Frame zero passes at `now` (nanoseconds).
    @_noAllocation @_noLocks
    init(rate: Int, now: Int64) {
        self.rate = rate
        origin = now
    }

    /// When the next `frames` will have passed.
    @_noAllocation @_noLocks
    func due(_ frames: Int) -> Int64 { origin + nanoseconds(passed + frames, at: rate) }

    /// The next `frames` have been dealt with at `now`. Returns those that are given up because they are too long ago.
    @_noAllocation @_noLocks
    mutating func pass(_ frames: Int, now: Int64) -> Int {
        passed += frames
        if passed >= rate {
            // Whole seconds move to the origin, so that the count stays small however long the card is away.
            origin += Int64(passed / rate) * nanosecondsPerSecond
            passed %= rate
        }
        let behind = now - due(0)
        guard behind > nanosecondsPerSecond else { return 0 }
        origin = now
        passed = 0
        return TenfourSoundCard.frames(in: behind, at: rate)
    }
}

/// When to look for a lost card again: after a quarter of a second, then twice as long each time, at most five seconds.
struct Backoff {
    private var pause: Int64 = nanosecondsPerSecond / 4
    private(set) var nextAttempt: Int64
    private var isOpening = false
    /// Since when the attempt under way has run, and how many before it were given up.
    private var openingSince: Int64 = 0
    private var abandonedCount = 0

    /// The card was lost at `now` (nanoseconds).
    @_noAllocation @_noLocks
    init(now: Int64) { nextAttempt = now + pause }

    /// An attempt ended in vain at `now`.
    @_noAllocation @_noLocks
    mutating func failed(now: Int64) {
        pause = 2 * pause < 5 * nanosecondsPerSecond ? 2 * pause : 5 * nanosecondsPerSecond
        nextAttempt = now + pause
    }

    enum Step: Equatable {
        /// Begin an attempt, wait for it or until the next, take what it found.
        case begin, wait, take
        /// Leave an attempt to itself that has not ended in ten seconds, and begin another.
        case abandon
    }

    private static var longestOpening: Int64 { 10 * nanosecondsPerSecond }
    /// Each holds a thread.
    private static var mostAbandoned: Int { 4 }

    /// What to do at `now`, where the last attempt stands as `outcome` says.
    mutating func step(_ outcome: CardReopening.Outcome, now: Int64) -> Step {
        guard isOpening else {
            isOpening = now >= nextAttempt
            openingSince = now
            return isOpening ? .begin : .wait
        }
        if outcome == .opening {
            guard now - openingSince > Self.longestOpening, abandonedCount < Self.mostAbandoned else { return .wait }
            openingSince = now
            abandonedCount += 1
            return .abandon
        }
        isOpening = false
        if outcome == .found { return .take }
        failed(now: now)
        return .wait
    }
}
