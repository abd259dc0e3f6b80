internal import TenfourAudioCore
public import TenfourPackets

/// Media of another member that is refused for its time.
public struct TimeRefusal: Hashable, Sendable {
    /// The SSRC that is not heard for this reason.
    public var ssrc: SSRC
    public var cause: Cause

    public enum Cause: Hashable, Sendable {
        /// By the member's clock, its media is of another time: one of the clocks is wrong, or somebody plays recorded media.
        case clock(ClockDifference)
        /// The packets have come this much later than the fastest ones: the network is slow, or somebody holds them back.
        case delay(Duration)
    }

    public init(of ssrc: SSRC, _ cause: Cause) {
        self.ssrc = ssrc
        self.cause = cause
    }
}

/// Counts of what was refused for its time since we began.
public struct TimeRefusalCounts: Hashable, Sendable {
    /// The announcements whose time is too far from our clock.
    public var announcementCount = 0
    /// The packets that are of another time by their talker's clock, or whose announcement is.
    public var packetCount = 0
    /// The packets that have come over 2 s later than the fastest ones of their epoch.
    public var delayedCount = 0

    public init() {}

    /// The packets of both kinds.
    public var allPacketCount: Int { packetCount + delayedCount }
}

/// Counts what is refused for its time, and says once for each difference of clocks what the cause is.
struct TimeRefusals: Sendable {
    private(set) var counts = TimeRefusalCounts()
    /// The talkers whose announcements are refused, oldest first.
    private var talkers: [(ssrc: SSRC, difference: ClockDifference)] = []
    /// The number of packets that were refused since the last event, by cause.
    private var (clockCount, delayCount) = (0, 0)
    /// The differences that were posted.
    private var posted: [Duration] = []
    private var hasPostedDelay = false

    /// Every member can announce any SSRC, so the table is bounded.
    private static let maximumTalkerCount = 16
    private static let maximumPostedCount = 8
    /// The number of packets from which their talker counts as not heard: a second of speech. A network that stalls delays
    /// some, and the relay's list of members, which names the talker, comes within a second.
    private static let leastCount = 50
    /// The change of a difference above which it is posted.
    private static let change = Duration.seconds(5)

    mutating func announcementRefused(_ ssrc: SSRC, _ difference: ClockDifference) {
        counts.announcementCount += 1
        talkers.removeAll { $0.ssrc == ssrc }
        if talkers.count == Self.maximumTalkerCount { talkers.removeFirst() }
        talkers.append((ssrc, difference))
    }

    mutating func announcementAccepted(_ ssrc: SSRC) { talkers.removeAll { $0.ssrc == ssrc } }

    /// Counts a packet that no known key decrypts, if its announcement was refused. Returns the event that is due.
    mutating func packetUnopened(of ssrc: SSRC) -> TimeRefusal? {
        guard let difference = talkers.first(where: { $0.ssrc == ssrc })?.difference else { return nil }
        return refused(ssrc, difference)
    }

    /// Counts a packet that was decrypted and refused. Returns the event that is due.
    mutating func packetRefused(of ssrc: SSRC, _ staleness: EpochKey.Staleness) -> TimeRefusal? {
        switch staleness {
        case .old(let age): return refused(ssrc, ClockDifference(ahead: .milliseconds(-age), isOwnUsed: true))
        case .delayed(let delay):
            counts.delayedCount += 1
            delayCount += 1
            guard !hasPostedDelay, delayCount >= Self.leastCount else { return nil }
            hasPostedDelay = true
            return TimeRefusal(of: ssrc, .delay(.milliseconds(delay)))
        }
    }

    private mutating func refused(_ ssrc: SSRC, _ difference: ClockDifference) -> TimeRefusal? {
        counts.packetCount += 1
        // Right clocks refuse audio from shortly before we began, too.
        guard difference.magnitude >= ClockDifference.reported, posted.count < Self.maximumPostedCount,
            !posted.contains(where: { isSame($0, difference.ahead) })
        else { return nil }
        clockCount += 1
        guard clockCount >= Self.leastCount else { return nil }
        clockCount = 0
        posted.append(difference.ahead)
        return TimeRefusal(of: ssrc, .clock(difference))
    }

    private func isSame(_ left: Duration, _ right: Duration) -> Bool {
        left - right <= Self.change && right - left <= Self.change
    }

    /// Forgets the differences, because our clock was set: those that remain are posted again.
    mutating func clockWasSet() { posted = [] }
}
