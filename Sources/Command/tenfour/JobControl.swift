import Glibc
import Synchronization
import TenfourCommandSupport

/// Ctrl-Z (SIGTSTP) asks for a stop, which the thread that draws and reads keys carries out; SIGCONT ends it.
enum JobControl {
    private static let isStopAsked = Atomic(false)
    private static let isContinued = Atomic(false)
    private static let wasStopped = Atomic(false)

    /// Notices from now on that the process is continued, whoever stopped it.
    static func watchContinuation() { signal(SIGCONT, continued) }

    static func begin() {
        watchContinuation()
        // A shell without job control starts programs with SIGTSTP ignored, and it stays so.
        if unsafe unsafeBitCast(signal(SIGTSTP, stopAsked), to: Int.self) == ignored { signal(SIGTSTP, SIG_IGN) }
    }

    static func end() {
        if unsafe unsafeBitCast(signal(SIGTSTP, SIG_DFL), to: Int.self) == ignored { signal(SIGTSTP, SIG_IGN) }
    }

    static func takeStop() -> Bool { isStopAsked.exchange(false, ordering: .relaxed) }

    static func takeContinuation() -> Bool { isContinued.exchange(false, ordering: .relaxed) }

    /// Whether the process was continued since this was last asked.
    fileprivate static func takeEndOfStop() -> Bool { wasStopped.exchange(false, ordering: .relaxed) }

    /// Stops all threads of this process until somebody continues it.
    static func stop() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        signal(SIGTSTP, stopAsked)
    }

    fileprivate static func askForStop() { isStopAsked.store(true, ordering: .relaxed) }
    fileprivate static func noteContinuation() {
        isContinued.store(true, ordering: .relaxed)
        wasStopped.store(true, ordering: .relaxed)
    }

    /// `SIG_IGN` as a number.
    private static let ignored = 1
}

@c private func stopAsked(_: Int32) { JobControl.askForStop() }
@c private func continued(_: Int32) { JobControl.noteContinuation() }

/// Tells for how long this process was stopped, by Ctrl-Z or a signal: nothing was captured, sent or played meanwhile.
struct StopWatch {
    /// All stops so far.
    private(set) var total = Duration.zero
    private var lastPoll = SuspendingClock.now
    /// Between the two looks before. The signal's handler may come only after a look.
    private var lastGap = Duration.zero
    private var end: SuspendingClock.Instant?

    /// A gap between two looks that is shorter is no stop.
    private static let shortest = Duration.milliseconds(700)
    /// What the status line looks back on, and a second.
    private static let memory = Duration.seconds(6)

    init() { JobControl.watchContinuation() }

    /// To be called a few times a second. Returns the length of a stop that has just ended.
    mutating func look() -> Duration? {
        look(at: SuspendingClock.now, wasContinued: JobControl.takeEndOfStop())
    }

    mutating func look(at now: SuspendingClock.Instant, wasContinued: Bool) -> Duration? {
        let gap = now - lastPoll
        defer { (lastPoll, lastGap) = (now, gap) }
        guard wasContinued else { return nil }
        let stop = max(gap, lastGap)
        guard stop >= Self.shortest else { return nil }
        end = now
        total += stop
        return stop
    }

    /// Whether figures of the last seconds hold such a stop.
    func isRecent(at now: SuspendingClock.Instant = SuspendingClock.now) -> Bool {
        end.map { now - $0 < Self.memory } ?? false
    }

    /// `4 s`, `1.2 s`.
    static func text(_ stop: Duration) -> String {
        decimal(stop / .seconds(1), places: stop < .seconds(10) ? 1 : 0, trimming: true) + " s"
    }
}
