import CALSA
import Glibc
import Synchronization

/// The limit on the processor time that a real-time thread takes without sleeping (`RLIMIT_RTTIME`).
///
/// A runaway thread would hold a processor for ever. At half the limit the kernel sends SIGXCPU, which lowers the
/// thread to ordinary priority. If that does not help, the kernel ends the process at the whole limit.
enum ProcessorTime {
    private static let lowered = Atomic<Int>(0)

    /// The number of threads lowered to ordinary priority.
    static var loweredCount: Int { lowered.load(ordering: .relaxed) }

    /// Limits each real-time thread of this process to `microseconds` of processor time without sleeping; a lower limit
    /// is kept. Returns false if the kernel refuses. The C functions are `setrlimit` and `sigaction`.
    static func limit(_ microseconds: Int64) -> Bool {
        // Uses the counter's global variable once: the first use takes a lock, which must not happen in the signal
        // handler.
        _ = loweredCount
        guard handleSignal() else { return false }
        let resource = __rlimit_resource_t(__RLIMIT_RTTIME.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return false }
        limit.rlim_max = min(limit.rlim_max, rlim_t(max(microseconds, 0)))
        limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max / 2)
        return unsafe setrlimit(resource, &limit) == 0
    }

    /// Installs the handler of SIGXCPU, unless there is one. Returns false if the kernel refuses.
    private static func handleSignal() -> Bool {
        var action = sigaction()
        guard unsafe sigaction(SIGXCPU, nil, &action) == 0 else { return false }
        guard unsafe action.__sigaction_handler.sa_handler == nil else { return true }
        unsafe action.__sigaction_handler.sa_handler = lowerThisThread
        action.sa_flags = SA_RESTART
        return unsafe sigaction(SIGXCPU, &action, nil) == 0
    }

    /// Counts a lowered thread. Called in the signal handler.
    fileprivate static func countLowered() { lowered.add(1, ordering: .relaxed) }
}

/// Handles SIGXCPU. A real-time thread that used up its processor time (`RLIMIT_RTTIME`) is lowered to ordinary
/// priority. For a thread of ordinary priority the signal comes from `RLIMIT_CPU`, and ends the process as usual.
@c private func lowerThisThread(_ number: Int32) {
    let saved = errno
    let policy = sched_getscheduler(0)
    switch policy & ~schedResetOnFork {
    case SCHED_FIFO, SCHED_RR:
        var ordinary = sched_param()
        if unsafe sched_setscheduler(0, SCHED_OTHER | (policy & schedResetOnFork), &ordinary) == 0 {
            ProcessorTime.countLowered()
        }
    default:
        signal(SIGXCPU, SIG_DFL)
        raise(SIGXCPU)
    }
    errno = saved
}
