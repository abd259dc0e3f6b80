internal import TenfourAudioCore
internal import TenfourPackets

/// Decides when our next report is due (RFC 3550 sections 6.2 and 6.3). All reports together take 5 % of the session's
/// bit rate; in a small session they are five seconds apart. The intervals are random, so that many members do not
/// report at the same time.
struct ReportSchedule: Sendable {
    /// The time of the next report by the regular interval.
    private var regular: Instant?
    /// The time to which the next report was moved forward, because of loss or a new participant; nil if it was not
    /// moved.
    private var early: Instant?
    /// The time of the last report, or of joining the session.
    private var last: Instant?
    /// The time of the report before the last one.
    private var beforeLast: Instant?
    /// The average size of reports in bytes, with IP and UDP headers.
    private var averageByteCount = 120.0
    private var memberCount = 1
    private var isFirst = true

    /// The members that share the bit rate of reports.
    struct Membership {
        /// The number of members, including ourselves.
        var memberCount: Int
        /// The number of members that send media.
        var senderCount: Int
        /// Whether we send media.
        var isSender: Bool
    }

    /// The delay of the report that answers a source's first packet. The source's own first report arrives meanwhile.
    static let replyDelay = Duration.milliseconds(5)
    /// The maximum length of an initial report, in bytes: a report block, a name, our capabilities and our clock.
    static let maximumInitialReportByteCount = 240
    /// The number of members from which on we send no BYE. If all members of a large session left at the same time,
    /// their BYEs would flood the rest (RFC 3550 section 6.3.7).
    static let crowd = 50

    /// The bit rate of all reports, in bytes a second: 5 % of 48 kbit/s.
    private static let bandwidth = 300.0
    /// The shortest regular interval, in seconds.
    private static let minimum = 5.0
    /// The length of the headers of IPv4 and UDP, in bytes. It is added to the size of each report.
    private static let overhead = 28
    /// The number by which an interval is divided, e − 3/2. Without it, reconsideration would make reports rarer than 5
    /// % of the bit rate allows (RFC 3550 section 6.3.1).
    private static let compensation = 1.21828
    /// The number of intervals without a report after which a member is removed.
    private static let patience = 5.0

    /// The minimum time between two early reports in a session of two. It is less than half a second, so that two
    /// reports a second are sent even if a timer is late.
    static let earlyInterval = Duration.milliseconds(450)

    var deadline: Instant? { early.flatMap { early in regular.map { min($0, early) } } ?? regular }

    /// Moves the next report forward to `moment`, because of loss or to introduce ourselves. In a session of two, the
    /// first report need not wait (section 6.2), and further reports follow the previous one after at least 450 ms (RFC
    /// 4585 section 3.4: immediate feedback). In a larger session, only the minimum interval of five seconds is waived.
    /// All reports together still take at most 5 % of the session's bit rate.
    mutating func expedite(_ membership: Membership, at moment: Instant) {
        guard early == nil, regular != nil, let last else { return }
        let isAlone = membership.memberCount <= 2
        let interval = isAlone ? Self.earlyInterval : max(Self.earlyInterval, .seconds(fairInterval(membership)))
        early = isFirst && isAlone ? moment : max(moment, last + interval)
    }

    /// Returns whether a participant that sent its last packet at `lastPacket` counts as a sender: the packet is later
    /// than the report before the last one (section 6.4).
    func isSender(lastPacket: Instant?) -> Bool {
        guard let lastPacket else { return false }
        return beforeLast.map { lastPacket >= $0 } ?? true
    }

    /// Starts the next interval, when we join the session or send a report at `now`. `random` is a random number.
    mutating func arm(_ membership: Membership, at now: Instant, random: UInt64) {
        if last != nil { isFirst = false }
        beforeLast = last
        last = now
        memberCount = membership.memberCount
        early = nil
        regular = now + interval(membership, random)
    }

    /// Returns whether a report must be sent at `now`. If the session has grown, the report is postponed (section
    /// 6.3.3).
    mutating func isDue(_ membership: Membership, at now: Instant, random: UInt64) -> Bool {
        guard let deadline, let last, deadline <= now else { return false }
        if let early, early <= now { return true }
        memberCount = membership.memberCount
        let reconsidered = last + interval(membership, random)
        guard reconsidered > now else { return true }
        regular = reconsidered
        return false
    }

    /// Shortens the present interval after members have left (section 6.3.4).
    mutating func membersLeft(_ membership: Membership, at now: Instant) {
        guard let deadline = regular, let last, membership.memberCount < memberCount else { return }
        let share = Double(membership.memberCount) / Double(memberCount)
        regular = now + (deadline - now) * share
        self.last = now - (now - last) * share
        memberCount = membership.memberCount
    }

    /// Updates the average size of reports with the size of a report that was sent or received. Sizes above 1500 bytes
    /// count as 1500.
    mutating func observe(byteCount: Int) {
        let byteCount = Double(min(byteCount, RTPSession.maximumDatagramByteCount) + Self.overhead)
        averageByteCount += (byteCount - averageByteCount) / 16
    }

    /// Returns the time without reports after which a member is removed.
    func memberTimeout(listenerCount: Int, sourceCount: Int) -> Duration {
        let membership = Membership(
            memberCount: 1 + listenerCount + sourceCount, senderCount: sourceCount, isSender: false)
        return .seconds(max(fairInterval(membership), Self.minimum) * Self.patience)
    }

    /// Returns the interval at which the reports of all members together take 5 % of the session's bit rate.
    func fairInterval(of membership: Membership) -> Duration { .seconds(fairInterval(membership)) }

    private func interval(_ membership: Membership, _ random: UInt64) -> Duration {
        let seconds = max(fairInterval(membership), isFirst ? Self.minimum / 2 : Self.minimum)
        let spread = 0.5 + Double(random >> 11) / Double(1 << 53)
        return .nanoseconds(Int64(seconds * spread / Self.compensation * 1e9))
    }

    /// Returns the interval, in seconds, at which the reports of all members together take 5 % of the bit rate. If at
    /// most a quarter of the members send, the senders have a quarter of these 5 % to themselves (section 6.3.1).
    private func fairInterval(_ membership: Membership) -> Double {
        var (count, bandwidth) = (membership.memberCount, Self.bandwidth)
        if membership.senderCount * 4 <= membership.memberCount {
            count = membership.isSender ? membership.senderCount : membership.memberCount - membership.senderCount
            bandwidth *= membership.isSender ? 0.25 : 0.75
        }
        return averageByteCount * Double(count) / bandwidth
    }
}
