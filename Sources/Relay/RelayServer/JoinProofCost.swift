internal import Glibc
internal import TenfourRelayCore

/// Measures the CPU time that this machine takes to check and refuse a JOIN with a wrong proof.
enum JoinProofCost {
    private static let count = 64
    /// The assumed CPU time for sending the refusal, which is one datagram.
    private static let sending = Duration.microseconds(2)

    /// Returns the average CPU time that the relay takes to refuse a JOIN with a wrong proof. The measurement takes
    /// about a millisecond. It uses the CPU clock of this thread, so that other threads do not distort it.
    static func measured(by relay: borrowing Relay) -> Duration {
        // Makes a JOIN with the listen role. All other fields are zero.
        var join = [UInt8](repeating: 0, count: 128)
        join.replaceSubrange(0..<4, with: [UInt8(ascii: "c"), 1, 3, 0])
        join[72] = 2
        relay.rehearseProof(join.span)
        let start = now
        for _ in 0..<count { relay.rehearseProof(join.span) }
        return (now - start) / count + sending
    }

    private static var now: Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
