internal import TenfourChannelKeys
internal import TenfourPackets

/// The key of one epoch of one talker: the clock and packet index that an announcement gave, and what it has opened.
struct EpochKey: Sendable {
    let epoch: Epoch
    private(set) var clock: SenderClock
    private(set) var hasOpened = false
    /// How far the announcement was from our wall clock, in milliseconds.
    let error: UInt64
    /// The numbers of its latest announcement and of the latest packet that it opened, among those of all keys.
    var announced: Int
    var opened = 0
    private let suite: SRTPSuite
    private let index: PacketIndex
    /// The highest index among the packets that were opened.
    private var highest: PacketIndex

    /// How many packets a later announcement of the epoch may be ahead and still continue the same count.
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

    /// Whether another announcement of the epoch agrees with the one that this key was made from.
    func agrees(with announcement: Announcement, at boot: Int64) -> Bool {
        announcement.suite == suite && announcement.index >= index
            && announcement.index.rawValue - index.rawValue <= Self.reach && clock.isClose(to: announcement, at: boot)
    }

    /// Whether so many packets were missed that sequence numbers do not tell the count.
    func isBeyondReach(_ index: PacketIndex) -> Bool { index.rawValue > highest.rawValue + 0x7FFF }

    func isExpired(at boot: Int64) -> Bool { clock.isExpired(at: boot) }

    mutating func renew(_ announcement: Announcement, at boot: Int64) -> Bool { clock.renew(announcement, at: boot) }

    /// Takes the new clock of a sender that was set, where its packets do not tell their time.
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
