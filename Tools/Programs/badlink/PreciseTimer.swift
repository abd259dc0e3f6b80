import CLinux
import Glibc
import TenfourAudioCore
import TenfourUV

/// A timer with microsecond precision. A `LoopTimer` may be two milliseconds late, which is too much for a tool that
/// measures jitter. The C functions are `timerfd_create` and `timerfd_settime`, on CLOCK_MONOTONIC.
final class PreciseTimer {
    private let fileDescriptor: Int32
    private var handle: LoopHandle?
    private var deadline: Instant?

    /// Calls `fire` once at or after each deadline that it is armed for.
    init(on loop: EventLoop, _ fire: @escaping () -> Void) throws {
        fileDescriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard fileDescriptor >= 0 else { throw NetworkError(.refused, function: "timerfd_create", code: errno) }
        handle = try loop.onReadable(fileDescriptor) { [unowned self] in
            var count: UInt64 = 0
            // The read fails if the timer was armed again after its expiry had triggered this call.
            guard unsafe read(fileDescriptor, &count, MemoryLayout.size(ofValue: count)) > 0 else { return }
            deadline = nil
            fire()
        }
    }

    deinit {
        handle?.close()
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    /// Sets the deadline. The timer fires at once if `deadline` has passed; nil disarms it.
    func arm(at deadline: Instant?) {
        if deadline == self.deadline { return }
        self.deadline = deadline
        // A time of zero would disarm the timer.
        let nanoseconds = deadline.map { max(1, $0.nanoseconds) } ?? 0
        var setting = itimerspec()
        setting.it_value = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        let code = unsafe timerfd_settime(fileDescriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        precondition(code == 0, "an open timer was refused a valid time")
    }
}
