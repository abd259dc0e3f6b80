import Glibc

/// What became of a wish for real-time priority.
///
/// Memory is not locked (`mlockall`): it would need a right of its own, pin the whole process, and make every later
/// allocation fail at the limit of 8 MB that users have by default. The audio threads touch what they need at their start
/// instead. Nor is there a limit on processor time (`RLIMIT_RTTIME`): our threads sleep in every turn by construction.
public enum RealTime: Hashable, BitwiseCopyable, Sendable {
    case notAsked
    case granted(priority: Int)
    /// Sound goes on at normal priority. `code` is the errno.
    case denied(priority: Int, code: Int32)

    /// Asks for `SCHED_FIFO` at `priority` (1…99; below 70 leaves the kernel's own threads alone, and a sound server at
    /// work should stay above it) for the calling thread. Where the user's limit is lower, as much as that.
    /// The C function is `pthread_setschedparam`.
    public static func request(priority: Int) -> RealTime {
        let range = Int(sched_get_priority_min(SCHED_FIFO))...Int(sched_get_priority_max(SCHED_FIFO))
        let wanted = min(max(priority, range.lowerBound), range.upperBound)
        let first = set(wanted)
        guard first == EPERM else {
            return first == 0 ? .granted(priority: wanted) : .denied(priority: wanted, code: first)
        }
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(__RLIMIT_RTPRIO.rawValue), &limit) == 0, limit.rlim_cur > 0,
            limit.rlim_cur < wanted, set(Int(limit.rlim_cur)) == 0
        else { return .denied(priority: wanted, code: first) }
        return .granted(priority: Int(limit.rlim_cur))
    }

    private static func set(_ priority: Int) -> Int32 {
        var parameters = sched_param(sched_priority: Int32(priority))
        return unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
    }
}

extension RealTime: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAsked: "normal priority"
        case .granted(let priority): "real-time priority \(priority)"
        case .denied(let priority, let code):
            "no real-time priority (SCHED_FIFO \(priority): \(Explanation.text(-code))): put"
                + " '@audio - rtprio \(priority)' into /etc/security/limits.d/audio.conf and log in again as a member of audio"
        }
    }
}
