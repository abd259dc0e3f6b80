import Glibc
import SoundCard
import Synchronization

/// A thread that does nothing but wake up every two milliseconds: no sound can be better kept than it.
public final class BareTimer {
    private let course = Course()
    private var thread: AudioThread?

    /// With the priority of those it is compared with: nil for an ordinary thread.
    public init(priority: Int?) throws {
        thread = try AudioThread("timer", priority: priority, work: course) { course, _ in course.run() }
    }

    deinit { _ = finish() }

    /// Ends it, and says how late it woke up at the worst.
    public func finish() -> Duration {
        course.isOver.store(true, ordering: .relaxed)
        thread.take()?.join()
        return .nanoseconds(course.lateness.load(ordering: .relaxed))
    }
}

private final class Course: Sendable {
    let isOver = Atomic(false)
    /// In nanoseconds.
    let lateness = Atomic<Int64>(0)

    func run() {
        var due = now()
        while !isOver.load(ordering: .relaxed) {
            due += 2_000_000
            var time = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
            unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
            let late = now() - due
            lateness.store(max(late, lateness.load(ordering: .relaxed)), ordering: .relaxed)
            if late > 2_000_000 { due = now() }
        }
    }

    private func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
