import CALSA
import Glibc
internal import TenfourDBus

/// The outcome of a request for real-time priority.
///
/// Memory is not locked (`mlockall`): it would need a right of its own, pin the whole process, and make every later
/// allocation fail at the limit of 8 MB that users have by default. The audio threads touch what they need at their start
/// instead.
public enum RealTime: Hashable, BitwiseCopyable, Sendable {
    case notAsked
    case granted(priority: Int, by: Grantor)
    /// The thread runs at ordinary priority: its queue has to bridge the time that others take.
    case denied(priority: Int, Denial)
    /// It was granted and taken away again, since the thread ran for longer than `ProcessorTime` allows without sleeping.
    case lowered

    /// The way it was granted.
    public enum Grantor: Hashable, BitwiseCopyable, Sendable {
        /// The kernel, by the user's limit `rtprio` or as root.
        case limit
        /// RealtimeKit, over the system's message bus.
        case realtimeKit
    }

    /// Why neither way led to it.
    public struct Denial: Error, Hashable, BitwiseCopyable, Sendable {
        /// The errno of `pthread_setschedparam`.
        public var code: Int32
        public var realtimeKit: RealtimeKit.Denial
    }

    public var isGranted: Bool {
        @_noAllocation @_noLocks get { if case .granted = self { true } else { false } }
    }

    /// It was asked for and the thread has not got it.
    public var isDenied: Bool {
        switch self {
        case .denied, .lowered: true
        case .notAsked, .granted: false
        }
    }

    /// Asks for `SCHED_FIFO` at `priority` (1…99; below 70 leaves the kernel's own threads alone, and a sound server at
    /// work should stay above it) for the calling thread: the kernel first, where the user's limit is lower for as much as
    /// that, then RealtimeKit, which gives less. Returns within 1.1 s; allocates, so ask before the sound starts.
    /// The C function is `pthread_setschedparam`.
    public static func request(priority: Int) -> RealTime {
        request(priority: priority, byLimit: grantedByLimit, byRealtimeKit: { RealtimeKit().grant(priority: $0) })
    }

    /// The order of the ways; each returns the priority that it granted.
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

    /// What holds for the calling thread now: what was granted may have been taken away. Cheap enough to ask for each
    /// report.
    public func renewed() -> RealTime {
        guard case .granted = self, ProcessorTime.loweredCount > 0, !isThisThreadRealTime() else { return self }
        return .lowered
    }

    /// Limits the processor time that a real-time thread of this process takes without sleeping: see `ProcessorTime`. False
    /// where the kernel refuses.
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

/// What a C function that returns its errno returned.
struct Errno: Error { var code: Int32 }

/// Whether the kernel runs the calling thread by SCHED_FIFO or SCHED_RR.
func isThisThreadRealTime() -> Bool {
    let policy = sched_getscheduler(0) & ~schedResetOnFork
    return policy == SCHED_FIFO || policy == SCHED_RR
}

/// `SCHED_RESET_ON_FORK`, which sched.h hides from Swift. RealtimeKit sets it, and only root may take it back.
let schedResetOnFork: Int32 = 0x4000_0000

extension RealTime: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAsked: "normal priority"
        case .granted(let priority, .limit): "real-time priority \(priority)"
        case .granted(let priority, .realtimeKit): "real-time priority \(priority) by RealtimeKit"
        case .denied(let priority, let denial):
            "no real-time priority (SCHED_FIFO: \(Explanation.text(-denial.code)); RealtimeKit: \(denial.realtimeKit)):"
                + " \(denial.realtimeKit.remedy), or put '@audio - rtprio \(priority)' into"
                + " /etc/security/limits.d/audio.conf and log in again as a member of the group audio"
        case .lowered:
            "real-time priority was withdrawn, because sound used a whole processor: use a longer period or a faster machine"
        }
    }
}
