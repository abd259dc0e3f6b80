internal import TenfourAudioCore

/// How long a packet takes there and back, from what was measured lately.
struct RoundTrip: Hashable, Sendable {
    private(set) var value: Duration?
    private var recent = RecentMinimum()
    private var lately = RecentMinimum(window: .milliseconds(1_500))
    private var lastReport: Instant?
    private var lastMeasured: Instant?

    /// What the fastest of the last seconds took: sooner nothing comes back, and so soon it may.
    var least: Duration? { value.flatMap { _ in recent.least.map { .nanoseconds($0) } } }

    /// What every packet of the last seconds took: a full queue delays them all, a stall only some.
    var standing: Duration? { lately.least.map { .nanoseconds($0) } }

    /// More is a lie, or nothing to wait for.
    private static let longest = Duration.seconds(3)
    /// For so long reports are better than what the time from a question to its answer tells.
    private static let worth = Duration.seconds(15)

    /// From a report block (RFC 3550 section 6.4.1), or from an echo of our clock (RFC 3611 section 4.5).
    mutating func reported(_ duration: Duration, at now: Instant) {
        guard duration >= .zero, duration <= Self.longest else { return }
        lastReport = now
        smooth(duration, at: now)
    }

    /// From a question that was asked once to its answer.
    mutating func measuredByNACK(after duration: Duration, at now: Instant) {
        guard duration >= .zero, duration <= Self.longest else { return }
        if let lastReport, now - lastReport < Self.worth { return }
        smooth(duration, at: now)
    }

    /// What nothing has confirmed for long is not known any more. Otherwise one that was too long to ask within, or a longer
    /// one than it now is, would be believed for ever where only answers tell of it.
    mutating func forgetWhatIsOld(at now: Instant) {
        guard let lastMeasured, now - lastMeasured > Self.worth else { return }
        (value, recent) = (nil, RecentMinimum())
    }

    private mutating func smooth(_ duration: Duration, at now: Instant) {
        value = value.map { $0 + (duration - $0) / 4 } ?? duration
        recent.insert(Instant.nanoseconds(in: duration), at: now)
        lately.insert(Instant.nanoseconds(in: duration), at: now)
        lastMeasured = now
    }
}
