import CALSA
import Glibc
internal import TenfourDBus

/// The outcome of a request for real-time priority.
///
/// Memory is not locked (`mlockall`): it would need a privilege, pin the whole process, and make every later allocation
/// fail at the limit of 8 MB that users have by default. Instead, audio threads touch their memory when they start.
public enum RealTime: Hashable, BitwiseCopyable, Sendable {
    case notAsked
    case granted(priority: Int, by: Grantor)
    /// The thread has ordinary priority; its queue has to cover delays by other threads.
    case denied(priority: Int, Denial)
    /// The priority was granted and later withdrawn, because the thread ran longer without sleeping than
    /// `ProcessorTime` allows.
    case lowered

    /// The part of the system that granted the priority.
    public enum Grantor: Hashable, BitwiseCopyable, Sendable {
        /// The kernel, by the limit `rtprio` or for root.
        case limit
        /// RealtimeKit, over the system's message bus.
        case realtimeKit
    }

    /// The reasons why neither the kernel nor RealtimeKit granted the priority.
    public struct Denial: Error, Hashable, BitwiseCopyable, Sendable {
        /// The errno of `pthread_setschedparam`.
        public var code: Int32
        /// The reason why RealtimeKit did not grant the priority.
        public var realtimeKit: RealtimeKit.Denial
    }

    public var isGranted: Bool {
        @_noAllocation @_noLocks get { if case .granted = self { true } else { false } }
    }

    /// Whether real-time priority was requested and is not in effect.
    public var isDenied: Bool {
        switch self {
        case .denied, .lowered: true
        case .notAsked, .granted: false
        }
    }

    /// Requests `SCHED_FIFO` for the calling thread at `priority`, 1…99: first from the kernel, then at the user's
    /// limit if this is lower, then from RealtimeKit, which grants less. A priority below 70 does not disturb the
    /// kernel's own threads; a sound server should have a higher priority than this thread. Returns within 1.1 s and
    /// allocates, so call it before audio starts. The C function is `pthread_setschedparam`.
    public static func request(priority: Int) -> RealTime {
        request(priority: priority, byLimit: grantedByLimit, byRealtimeKit: { RealtimeKit().grant(priority: $0) })
    }

    /// Requests the priority from the kernel (`byLimit`), and if that fails from RealtimeKit (`byRealtimeKit`). Both
    /// functions return the granted priority, which may be lower than the requested one.
    static func request(
        priority: Int, byLimit: (Int) -> Result<Int, Errno>,
        byRealtimeKit: (Int) -> Result<Int, RealtimeKit.Denial>
    ) -> RealTime {
        let range = Int(sched_get_priority_min(SCHED_FIFO))...Int(sched_get_priority_max(SCHED_FIFO))
        let wanted = min(max(priority, range.lowerBound), range.upperBound)
        switch byLimit(wanted) {
        case .success(let granted): return .granted(priority: granted, by: .limit)
        case .failure(let refusal):
            switch byRealtimeKit(wanted) {
            case .success(let granted): return .granted(priority: granted, by: .realtimeKit)
            case .failure(let denial):
                return .denied(priority: wanted, Denial(code: refusal.code, realtimeKit: denial))
            }
        }
    }

    /// Returns the calling thread's present state, since priority may have been withdrawn. The call is fast enough for
    /// every report.
    public func renewed() -> RealTime {
        guard case .granted = self, ProcessorTime.loweredCount > 0, !isThisThreadRealTime() else { return self }
        return .lowered
    }

    /// Limits the processor time of real-time threads: see `ProcessorTime`. Returns false if the kernel refuses.
    package static func limitProcessorTime(toMicroseconds time: Int64) -> Bool { ProcessorTime.limit(time) }

    private static func grantedByLimit(_ wanted: Int) -> Result<Int, Errno> {
        let first = set(wanted)
        guard first != 0 else { return .success(wanted) }
        var limit = rlimit()
        guard first == EPERM, unsafe getrlimit(__rlimit_resource_t(__RLIMIT_RTPRIO.rawValue), &limit) == 0,
            limit.rlim_cur > 0, limit.rlim_cur < wanted, set(Int(limit.rlim_cur)) == 0
        else { return .failure(Errno(code: first)) }
        return .success(Int(limit.rlim_cur))
    }

    private static func set(_ priority: Int) -> Int32 {
        var parameters = sched_param(sched_priority: Int32(priority))
        return unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
    }
}

/// The errno that a C function returned.
struct Errno: Error { var code: Int32 }

/// Returns whether the calling thread runs under SCHED_FIFO or SCHED_RR.
func isThisThreadRealTime() -> Bool {
    let policy = sched_getscheduler(0) & ~schedResetOnFork
    return policy == SCHED_FIFO || policy == SCHED_RR
}

/// `SCHED_RESET_ON_FORK`, which Swift does not import from sched.h. RealtimeKit sets it, and only root may clear it.
let schedResetOnFork: Int32 = 0x4000_0000

extension RealTime: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAsked: "normal priority"
        case .granted(let priority, .limit): "real-time priority \(priority)"
        case .granted(let priority, .realtimeKit): "real-time priority \(priority) by RealtimeKit"
        case .denied(let priority, let denial):
            "no real-time priority (SCHED_FIFO: \(ALSAMessages.text(-denial.code)); RealtimeKit: \(denial.realtimeKit)):"
                + " \(denial.realtimeKit.remedy), or put '@audio - rtprio \(priority)' into"
                + " /etc/security/limits.d/audio.conf and log in again as a member of the group audio"
        case .lowered:
            "real-time priority was withdrawn, because the audio thread used a whole processor: use a longer period or a faster machine"
        }
    }
}
