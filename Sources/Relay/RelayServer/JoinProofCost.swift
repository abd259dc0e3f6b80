internal import Glibc
internal import TenfourRelayCore

/// How long a relay takes to prove a JOIN wrong on this machine, and to say so.
enum JoinProofCost {
    private static let count = 64
    /// The time that one datagram takes to go out.
    private static let sending = Duration.microseconds(2)

    /// Takes about a millisecond, by the clock of this thread: other threads do not count.
    static func measured(by relay: borrowing Relay) -> Duration {
        // A listener's JOIN with all other fields zero.
        var join = [UInt8](repeating: 0, count: 128)
        join.replaceSubrange(0..<4, with: [UInt8(ascii: "c"), 1, 3, 0])
        join[72] = 2
        relay.practiseProof(join.span)
        let start = now
        for _ in 0..<count { relay.practiseProof(join.span) }
        return (now - start) / count + sending
    }

    private static var now: Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
