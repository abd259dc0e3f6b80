import Glibc
import Synchronization
import TenfourCommandSupport

/// Job control: Ctrl-Z (SIGTSTP) requests a stop, and the thread of the keyboard and status line then stops the
/// process. SIGCONT continues the process.
enum JobControl {
    private static let isStopRequested = Atomic(false)
    private static let isContinued = Atomic(false)
    private static let wasStopped = Atomic(false)

    /// Installs the SIGCONT handler, which records that the process continues after a stop by any signal.
    static func watchContinuation() { signal(SIGCONT, continued) }

    static func begin() {
        watchContinuation()
        // Keeps SIGTSTP ignored, and so Ctrl-Z, if it was ignored at the start: shells without job control start
        // programs in this way.
        if unsafe unsafeBitCast(signal(SIGTSTP, stopRequested), to: Int.self) == ignored { signal(SIGTSTP, SIG_IGN) }
    }

    static func end() {
        if unsafe unsafeBitCast(signal(SIGTSTP, SIG_DFL), to: Int.self) == ignored { signal(SIGTSTP, SIG_IGN) }
    }

    static func consumeStop() -> Bool { isStopRequested.exchange(false, ordering: .relaxed) }

    static func consumeContinuation() -> Bool { isContinued.exchange(false, ordering: .relaxed) }

    /// Returns whether the process was continued since the last call.
    fileprivate static func consumeEndOfStop() -> Bool { wasStopped.exchange(false, ordering: .relaxed) }

    /// Stops the process until SIGCONT.
    static func stop() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        signal(SIGTSTP, stopRequested)
    }

    fileprivate static func requestStop() { isStopRequested.store(true, ordering: .relaxed) }
    fileprivate static func recordContinuation() {
        isContinued.store(true, ordering: .relaxed)
        wasStopped.store(true, ordering: .relaxed)
    }

    /// `SIG_IGN` as a number.
    private static let ignored = 1
}

@c private func stopRequested(_: Int32) { JobControl.requestStop() }
@c private func continued(_: Int32) { JobControl.recordContinuation() }

/// Measures the time for which this process was stopped by Ctrl-Z or a signal. During a stop, no audio is captured,
/// sent or played.
struct ProcessStopMonitor {
    /// The duration of all stops so far.
    private(set) var total = Duration.zero
    private var lastPoll = SuspendingClock.now
    /// The time between the last two polls. It is kept, since the SIGCONT handler may run only after the poll that
    /// follows the stop.
    private var lastGap = Duration.zero
    /// The end of the last stop that was counted; nil if there was none.
    private var end: SuspendingClock.Instant?

    /// The shortest time between two polls that counts as a stop. The process polls a few times per second, so a
    /// shorter time may have another cause.
    private static let shortest = Duration.milliseconds(700)
    /// The time after a stop in which the status line's figures may include the stop: one second more than the five
    /// seconds that the figures cover.
    private static let memory = Duration.seconds(6)

    init() { JobControl.watchContinuation() }

    /// Returns the duration of a stop that has just ended; nil if there was none. Call this a few times per second.
    mutating func poll() -> Duration? {
        poll(at: SuspendingClock.now, wasContinued: JobControl.consumeEndOfStop())
    }

    mutating func poll(at now: SuspendingClock.Instant, wasContinued: Bool) -> Duration? {
        let gap = now - lastPoll
        defer { (lastPoll, lastGap) = (now, gap) }
        guard wasContinued else { return nil }
        let stop = max(gap, lastGap)
        guard stop >= Self.shortest else { return nil }
        end = now
        total += stop
        return stop
    }

    /// Whether the status line's figures, which cover the last seconds, include a stop.
    func isRecent(at now: SuspendingClock.Instant = SuspendingClock.now) -> Bool {
        end.map { now - $0 < Self.memory } ?? false
    }

    /// Formats a stop's duration as `4 s` or `1.2 s`.
    static func text(_ stop: Duration) -> String {
        decimal(stop / .seconds(1), places: stop < .seconds(10) ? 1 : 0, trimming: true) + " s"
    }
}
