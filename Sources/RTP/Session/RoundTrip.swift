internal import TenfourAudioCore

/// The round-trip time to a peer, from recent measurements.
struct RoundTrip: Hashable, Sendable {
    /// The smoothed round trip; nil if unknown.
    private(set) var value: Duration?
    /// The smallest measurement of the last five to ten seconds.
    private var recent = RecentMinimum()
    /// The smallest measurement of the last 1.5 to 3 seconds.
    private var lately = RecentMinimum(window: .milliseconds(1_500))
    private var lastReport: Instant?
    private var lastMeasured: Instant?

    /// The smallest round trip of the last five to ten seconds; nil if unknown. A packet that arrives sooner after a
    /// request is no answer to it.
    var least: Duration? { value.flatMap { _ in recent.least.map { .nanoseconds($0) } } }

    /// The smallest round trip of the last 1.5 to 3 seconds; nil before the first measurement. A full queue lengthens
    /// it, because the queue delays all packets. A stall does not lengthen it, because a stall delays only some
    /// packets.
    var standing: Duration? { lately.least.map { .nanoseconds($0) } }

    /// The maximum of a measurement. A longer one is wrong or useless, and is ignored.
    private static let longest = Duration.seconds(3)
    /// The time for which a measurement by a report is preferred to measurements by NACKs. A value that no measurement
    /// confirms stays valid for this time, too.
    private static let worth = Duration.seconds(15)

    /// Adds a measurement from a report block (RFC 3550 section 6.4.1) or from an echo of our reference time (RFC 3611
    /// section 4.5).
    mutating func reported(_ duration: Duration, at now: Instant) {
        guard duration >= .zero, duration <= Self.longest else { return }
        lastReport = now
        smooth(duration, at: now)
    }

    /// Adds the time from a NACK to the retransmission of a packet that was requested once. Does nothing for 15 seconds
    /// after a report has measured the round trip.
    mutating func measuredByNACK(after duration: Duration, at now: Instant) {
        guard duration >= .zero, duration <= Self.longest else { return }
        if let lastReport, now - lastReport < Self.worth { return }
        smooth(duration, at: now)
    }

    /// Forgets the round trip if no measurement has confirmed it for 15 seconds. Otherwise a value that is too large
    /// could stay for ever: it prevents the requests that would correct it.
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
