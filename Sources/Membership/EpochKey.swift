internal import Keys
internal import RTP

/// What is known of the key of one epoch of one talker: its clock and count as an announcement told them, and what has come of it.
struct EpochKey: Sendable {
    let epoch: Epoch
    private(set) var clock: SenderClock
    private(set) var hasOpened = false
    /// How far the announcement was from our wall clock, in milliseconds.
    let error: UInt64
    /// Which of all announcements was its latest, and which of all packets the latest that it opened.
    var announced: Int
    var opened = 0
    private let suite: SRTPSuite
    private let index: PacketIndex
    /// Of the packets that were opened.
    private var highest: PacketIndex

    /// An announcement of the epoch that is further ahead does not tell of the same count.
    private static let reach: UInt64 = 1 << 14

    /// `clock` is what is known of the sender's already.
    init(_ announcement: Announcement, clock: SenderClock? = nil, announced: Int, at now: ClockReading) {
        epoch = announcement.epoch
        suite = announcement.suite
        index = announcement.index
        highest = announcement.index
        self.clock = clock ?? SenderClock(announcement, at: now.bootMilliseconds)
        error = now.error(of: announcement)
        self.announced = announced
    }

    /// Whether an announcement of the epoch says nothing else than the one before the first packet.
    func agrees(with announcement: Announcement, at boot: Int64) -> Bool {
        announcement.suite == suite && announcement.index >= index
            && announcement.index.rawValue - index.rawValue <= Self.reach && clock.isClose(to: announcement, at: boot)
    }

    /// Whether so many packets were missed that sequence numbers do not tell the count.
    func isBeyondReach(_ index: PacketIndex) -> Bool { index.rawValue > highest.rawValue + 0x7FFF }

    func isExpired(at boot: Int64) -> Bool { clock.isExpired(at: boot) }

    mutating func renew(_ announcement: Announcement, at boot: Int64) -> Bool { clock.renew(announcement, at: boot) }

    /// The clock of a sender that does not tell its packets' time was set.
    mutating func resetClock(_ announcement: Announcement, at boot: Int64) {
        clock = SenderClock(announcement, at: boot)
    }

    /// A packet was opened in its time. `others` are the clocks that other announcements claimed for the epoch.
    mutating func worked(_ packet: Span<UInt8>, at boot: Int64, others: [SenderClock]) {
        let timestamp = RTPTimestamp(rawValue: packet.uint32(at: 4))
        if hasOpened {
            clock.heard(timestamp, at: boot)
        } else {
            clock.heardFirst(timestamp, at: boot, others: others)
        }
        hasOpened = true
        highest = max(highest, highest.closest(SequenceNumber(rawValue: packet.uint16(at: 2))))
    }
}
