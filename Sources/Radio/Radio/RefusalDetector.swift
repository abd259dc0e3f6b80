internal import TenfourAudioCore
internal import TenfourUV

/// Detects from the socket's counts that no datagram can have reached a receiver.
///
/// If no program listens, the other machine answers datagrams with ICMP errors, but many machines send only one error
/// per second. So the detector does not compare the number of errors with the number of datagrams, but checks whether
/// an error arrived in every window of 2 s.
struct RefusalDetector {
    private var windowStart: Instant?
    private var sentBefore = 0
    private var failedBefore = 0
    private var windowCount = 0
    /// Whether there was a window of 2 s in which datagrams were sent and no error arrived.
    private var hasWindowWithoutError = false

    /// The length of the windows in which errors are counted. Errors are sent once a second, and may need another
    /// second to arrive.
    private static let window = Duration.seconds(2)
    /// The maximum number of sent datagrams whose errors may not have arrived yet, because the datagrams were sent
    /// recently.
    private static let inFlightCount = 8

    /// Evaluates the socket's counts. Call this several times a second.
    mutating func poll(_ statistics: SocketStatistics, at now: Instant) {
        guard statistics.sent + statistics.failed > 0 else { return }
        guard let start = windowStart else {
            windowStart = now
            return
        }
        guard now - start >= Self.window else { return }
        if statistics.sent > sentBefore, statistics.failed == failedBefore { hasWindowWithoutError = true }
        (windowStart, sentBefore, failedBefore) = (now, statistics.sent, statistics.failed)
        windowCount += 1
    }

    /// Returns, at the end of the session, the reason why no datagram can have arrived; nil if some may have arrived.
    func failure(_ statistics: SocketStatistics) -> RadioError? {
        guard statistics.received == 0, statistics.failed > 0, let last = statistics.lastFailure else { return nil }
        guard statistics.sent > 0 else {
            return RadioError(
                .unavailable, "no packet could be sent (\(last)): check this machine's network and the address")
        }
        let isAll =
            statistics.failed + Self.inFlightCount >= statistics.sent && statistics.failed * 2 >= statistics.sent
        guard !hasWindowWithoutError, isAll || windowCount > 0 else { return nil }
        return RadioError(
            .unavailable,
            "every packet was refused (\(last)): start the receiver first, or check the address and port")
    }
}
