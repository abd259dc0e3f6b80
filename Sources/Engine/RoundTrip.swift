internal import Sound

/// How long a packet takes there and back, from what was measured lately.
struct RoundTrip: Hashable, Sendable {
    private(set) var value: Duration?
    private var lastReport: Instant?

    /// More is a lie, or nothing to wait for.
    private static let longest = Duration.seconds(3)
    /// For so long reports are better than what the time from a question to its answer tells.
    private static let worth = Duration.seconds(15)

    /// From a report block (RFC 3550 section 6.4.1), or from an echo of our clock (RFC 3611 section 4.5).
    mutating func reported(_ duration: Duration, at now: Instant) {
        guard duration >= .zero, duration <= Self.longest else { return }
        lastReport = now
        smooth(duration)
    }

    /// From a question that was asked once to its answer.
    mutating func answered(after duration: Duration, at now: Instant) {
        guard duration >= .zero, duration <= Self.longest else { return }
        if let lastReport, now - lastReport < Self.worth { return }
        smooth(duration)
    }

    private mutating func smooth(_ duration: Duration) { value = value.map { $0 + (duration - $0) / 4 } ?? duration }
}
