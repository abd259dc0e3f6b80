internal import TenfourAudioCore
internal import TenfourPackets

/// When the next report is due (RFC 3550 section 6.2 and 6.3): seldom enough that all reports together take 5 % of the
/// session's bits, five seconds apart for the few, spread by chance so that a crowd does not speak at once.
struct ReportSchedule: Sendable {
    /// By the rules for all.
    private var regular: Instant?
    /// Sooner, because there is loss to be told of, or somebody to be greeted.
    private var early: Instant?
    /// When the last report went out, and the one before it.
    private var last: Instant?
    private var beforeLast: Instant?
    private var averageByteCount = 120.0
    private var memberCount = 1
    private var isFirst = true

    /// Who shares the bits.
    struct Membership {
        /// Ourselves included.
        var memberCount: Int
        var senderCount: Int
        var isSender: Bool
    }

    /// 5 % of 48 kbit/s, in bytes a second.
    private static let bandwidth = 300.0
    /// Seconds.
    private static let minimum = 5.0
    /// IP and UDP.
    private static let overhead = 28
    /// What reconsidering would otherwise shorten the interval by (e − 3/2).
    private static let compensation = 1.21828
    /// Intervals without a word after which a member is not there any more.
    private static let patience = 5.0

    /// Between two early reports of two who are alone, at the least: with what a timer is late, two such lie within half a second.
    static let earlyInterval = Duration.milliseconds(450)

    var deadline: Instant? { early.flatMap { early in regular.map { min($0, early) } } ?? regular }

    /// The others shall know something at `moment`: loss, or who we are. To one who is alone with us the first report need not
    /// wait (section 6.2), and another goes no sooner than half a second after the last (RFC 4585 section 3.4: immediate
    /// feedback). Among more, only the five seconds are waived: all reports together still take no more than their share.
    mutating func expedite(_ membership: Membership, at moment: Instant) {
        guard early == nil, regular != nil, let last else { return }
        let isAlone = membership.memberCount <= 2
        let interval = isAlone ? Self.earlyInterval : max(Self.earlyInterval, .seconds(fairInterval(membership)))
        early = isFirst && isAlone ? moment : max(moment, last + interval)
    }

    /// Whether one who last sent at `lastPacket` counts as a sender: since the report before the last (section 6.4).
    func isSender(lastPacket: Instant?) -> Bool {
        guard let lastPacket else { return false }
        return beforeLast.map { lastPacket >= $0 } ?? true
    }

    /// Begins to count, from joining the session or from a report that goes out at `now`. `random` is any number.
    mutating func arm(_ membership: Membership, at now: Instant, random: UInt64) {
        if last != nil { isFirst = false }
        beforeLast = last
        last = now
        memberCount = membership.memberCount
        early = nil
        regular = now + interval(membership, random)
    }

    /// Whether a report is to go out at `now`. In a session that has grown it is put off (section 6.3.3).
    mutating func isDue(_ membership: Membership, at now: Instant, random: UInt64) -> Bool {
        guard let deadline, let last, deadline <= now else { return false }
        if let early, early <= now { return true }
        memberCount = membership.memberCount
        let reconsidered = last + interval(membership, random)
        guard reconsidered > now else { return true }
        regular = reconsidered
        return false
    }

    /// Somebody has left: those who stay may speak the sooner (section 6.3.4).
    mutating func membersLeft(_ membership: Membership, at now: Instant) {
        guard let deadline = regular, let last, membership.memberCount < memberCount else { return }
        let share = Double(membership.memberCount) / Double(memberCount)
        regular = now + (deadline - now) * share
        self.last = now - (now - last) * share
        memberCount = membership.memberCount
    }

    /// Learns from any report, sent or received, how large they are. No more than an Ethernet frame is believed.
    mutating func observe(byteCount: Int) {
        let byteCount = Double(min(byteCount, RTPSession.maximumDatagramByteCount) + Self.overhead)
        averageByteCount += (byteCount - averageByteCount) / 16
    }

    /// How long a member may be silent.
    func memberTimeout(listenerCount: Int, sourceCount: Int) -> Duration {
        let membership = Membership(
            memberCount: 1 + listenerCount + sourceCount, senderCount: sourceCount, isSender: false)
        return .seconds(max(fairInterval(membership), Self.minimum) * Self.patience)
    }

    private func interval(_ membership: Membership, _ random: UInt64) -> Duration {
        let seconds = max(fairInterval(membership), isFirst ? Self.minimum / 2 : Self.minimum)
        let spread = 0.5 + Double(random >> 11) / Double(1 << 53)
        return .nanoseconds(Int64(seconds * spread / Self.compensation * 1e9))
    }

    /// In seconds. Where few send to many, the few have a quarter of the bits to themselves (section 6.3.1).
    private func fairInterval(_ membership: Membership) -> Double {
        var (count, bandwidth) = (membership.memberCount, Self.bandwidth)
        if membership.senderCount * 4 <= membership.memberCount {
            count = membership.isSender ? membership.senderCount : membership.memberCount - membership.senderCount
            bandwidth *= membership.isSender ? 0.25 : 0.75
        }
        return averageByteCount * Double(count) / bandwidth
    }
}
