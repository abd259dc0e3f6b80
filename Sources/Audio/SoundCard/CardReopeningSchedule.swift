internal import TenfourAudioCore
internal import TenfourPacing

/// The schedule for reopening a lost card. The first attempt is made 0.25 s after the loss. The pause after a failed
/// attempt is 0.5 s at first, and 0.75 s later.
struct CardReopeningSchedule {
    /// The pauses between a failed attempt and the next attempt.
    private var backoff = Backoff(first: .milliseconds(500), longest: .milliseconds(750))
    /// The time of the next attempt, in nanoseconds.
    private(set) var nextAttempt: Int64
    private var isOpening = false
    /// The time at which the present attempt began, in nanoseconds of the monotonic clock.
    private var openingSince: Int64 = 0
    /// The number of attempts abandoned before the present attempt.
    private var abandonedCount = 0

    /// Starts the schedule for a card lost at `now` (nanoseconds).
    @_noAllocation @_noLocks
    init(now: Int64) { self.init(firstAttempt: now + nanosecondsPerSecond / 4) }

    /// Starts the schedule with an attempt at `firstAttempt` (nanoseconds).
    @_noAllocation @_noLocks
    init(firstAttempt: Int64) { nextAttempt = firstAttempt }

    /// Records an attempt that failed at `now`.
    mutating func failed(now: Int64) { nextAttempt = now + Instant.nanoseconds(in: backoff.next()) }

    enum Step: Equatable {
        /// `begin`: begin an attempt. `wait`: wait until the attempt ends, or until the next attempt is due. `take`:
        /// take the card that the attempt opened.
        case begin, wait, take
        /// Abandon an attempt that has not ended in ten seconds, and begin another attempt.
        case abandon
    }

    private static var longestOpening: Int64 { 10 * nanosecondsPerSecond }
    /// The largest number of abandoned attempts, each of which holds a thread. After that, the present attempt is
    /// awaited without a time limit.
    private static var mostAbandoned: Int { 4 }

    /// Returns the next step at `now`, given the outcome of the last attempt.
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
