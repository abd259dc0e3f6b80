internal import TenfourAudioCore
internal import TenfourUV

/// Whether any of the datagrams that were sent can have reached anybody, from what the socket has counted.
///
/// Where nothing listens, the other machine answers each datagram with an ICMP error, but many send only one such error a second.
/// So it is not asked whether the errors are as many as the datagrams, but whether they came all the time.
struct RefusalDetector {
    private var windowStart: Instant?
    private var sentBefore = 0
    private var failedBefore = 0
    private var windowCount = 0
    /// Whether datagrams went out for a whole window without an error.
    private var someWereTaken = false

    /// Errors come once a second; what is on its way may take as long again.
    private static let window = Duration.seconds(2)
    /// How many datagrams may be so recent that their errors are still to come.
    private static let underWay = 8

    /// To be called several times a second.
    mutating func look(_ statistics: SocketStatistics, at now: Instant) {
        guard statistics.sent + statistics.failed > 0 else { return }
        guard let start = windowStart else {
            windowStart = now
            return
        }
        guard now - start >= Self.window else { return }
        if statistics.sent > sentBefore, statistics.failed == failedBefore { someWereTaken = true }
        (windowStart, sentBefore, failedBefore) = (now, statistics.sent, statistics.failed)
        windowCount += 1
    }

    /// At the end, why nothing can have arrived; nil where something may have.
    func failure(_ statistics: SocketStatistics) -> RadioError? {
        guard statistics.received == 0, statistics.failed > 0, let last = statistics.lastFailure else { return nil }
        guard statistics.sent > 0 else {
            return RadioError(
                .unavailable, "no datagram left this machine (\(last)): check its network and the address")
        }
        let isAll = statistics.failed + Self.underWay >= statistics.sent && statistics.failed * 2 >= statistics.sent
        guard !someWereTaken, isAll || windowCount > 0 else { return nil }
        return RadioError(
            .unavailable,
            "every datagram was refused (\(last)): start the receiver first, or check the address and port")
    }
}
