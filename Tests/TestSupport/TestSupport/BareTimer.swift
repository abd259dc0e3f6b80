import Glibc
public import TenfourAudioCore
import TenfourSoundCard
import TenfourSystem

/// A thread that only wakes up every two milliseconds. Its lateness shows how punctual an audio thread could be at
/// best. It runs until the process ends, so that many tests can use it.
public final class BareTimer: Sendable {
    /// A timer on a thread of ordinary priority, like the network thread.
    public static let ordinary = BareTimer(priority: nil)
    /// A timer with the priority of a session's audio threads, if the system grants it.
    public static let urgent = BareTimer(priority: 50)

    private let wakeUps: WakeUps

    private init(priority: Int?) {
        wakeUps = WakeUps()
        // If the thread could not be created, the lateness is always zero, and no failure is excused.
        let thread = try? AudioThread("timer", priority: priority, work: wakeUps) { wakeUps, _ in wakeUps.run() }
        if thread == nil { wakeUps.stop() }
    }

    /// The current time, for use as the start of a measurement.
    public static var now: Instant { WakeUps.now }

    /// Returns the greatest lateness of a wake-up since `start`, including a wake-up that is overdue now.
    public func lateness(since start: Instant) -> Duration { wakeUps.lateness(since: start) }
}

private final class WakeUps: Sendable {
    private struct State {
        var due: Instant?
        /// The latest late wake-ups, at most 4096, oldest first.
        var late: [(at: Instant, by: Duration)] = []
        var isOver = false
    }

    private let state = Locked(State())

    private static let interval = Duration.milliseconds(2)
    private static let capacity = 4_096

    static var now: Instant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    func run() {
        var due = Self.now
        while !state.withLock({ $0.isOver }) {
            due = due + Self.interval
            state.withLock { $0.due = due }
            var time = timespec(
                tv_sec: Int(due.nanoseconds / 1_000_000_000), tv_nsec: Int(due.nanoseconds % 1_000_000_000))
            unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
            let now = Self.now
            guard now - due > Self.interval else { continue }
            state.withLock { state in
                if state.late.count == Self.capacity { state.late.removeFirst(Self.capacity / 2) }
                state.late.append((now, now - due))
            }
            due = now
        }
    }

    func stop() {
        state.withLock { state in
            state.due = nil
            state.isOver = true
        }
    }

    func lateness(since start: Instant) -> Duration {
        state.withLock { state in
            let late = state.late.reversed().prefix { $0.at >= start }.map(\.by)
            return max(state.due.map { Self.now - $0 } ?? .zero, late.max() ?? .zero, .zero)
        }
    }
}
