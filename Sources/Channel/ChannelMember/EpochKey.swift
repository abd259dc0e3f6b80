internal import TenfourChannelKeys
internal import TenfourPackets

/// The state of the key of one epoch of one talker: the clock and packet index from its announcement, and whether it
/// has decrypted packets.
struct EpochKey: Sendable {
    let epoch: Epoch
    let origin: EpochOrigin
    private(set) var clock: SenderClock
    private(set) var hasOpened = false
    /// The absolute difference between the time in the announcement and our wall clock, in milliseconds.
    let error: UInt64
    /// The serial number of the epoch's latest announcement, counted over all talkers.
    var announced: Int
    /// The serial number of the latest packet that this key decrypted, counted over all talkers; 0 before the first
    /// packet.
    var opened = 0
    private let suite: SRTPSuite
    private let index: PacketIndex
    /// The highest index of the decrypted packets.
    private var highest: PacketIndex

    /// The maximum number of packets by which the index in an announcement may be above the index that this key was
    /// made from. An announcement beyond this maximum does not agree with this key.
    private static let reach: UInt64 = 1 << 14

    /// `clock` is the sender's clock as another key of the epoch has measured it. If `clock` is nil, the sender's clock
    /// is computed from the announcement.
    init(
        _ announcement: AnnouncedEpoch, of origin: EpochOrigin, clock: SenderClock? = nil, announced: Int,
        at now: ClockReading
    ) {
        epoch = announcement.epoch
        self.origin = origin
        suite = announcement.suite
        index = announcement.index
        highest = announcement.index
        self.clock = clock ?? SenderClock(announcement, at: now.bootMilliseconds)
        error = now.error(of: announcement)
        self.announced = announced
    }

    /// Whether `announcement` agrees with the announcement that this key was made from: the suite is the same, the
    /// packet index is ahead by at most 2¹⁴ packets, and the sender's clock differs by at most 250 ms.
    func agrees(with announcement: AnnouncedEpoch, at boot: Int64) -> Bool {
        announcement.suite == suite && announcement.index >= index
            && announcement.index.rawValue - index.rawValue <= Self.reach && clock.isClose(to: announcement, at: boot)
    }

    /// Whether the announced `index` is more than 32 767 packets ahead of the latest decrypted packet. If so, the
    /// rollover counter can no longer be found from a sequence number.
    func isBeyondReach(_ index: PacketIndex) -> Bool { index.rawValue > highest.rawValue + 0x7FFF }

    func isExpired(at boot: Int64) -> Bool { clock.isExpired(at: boot) }

    /// The reason why a packet must not be played: an attacker may have held it back or recorded it.
    enum Staleness: Equatable {
        /// The packet has come this many milliseconds later than the fastest one of its epoch, which is over 2 s.
        case delayed(Int64)
        /// The packet was said this many milliseconds ago by its talker's clock, which is too long.
        case old(Int64)
    }

    /// Returns the reason why a packet must not be played; nil if it may.
    func staleness(_ timestamp: RTPTimestamp, _ freshness: MediaFreshness?, at boot: Int64) -> Staleness? {
        if let delay = clock.lateness(timestamp, at: boot) { return .delayed(delay) }
        guard let freshness, epoch.timing?.isSynchronised ?? false, let said = clock.time(of: timestamp) else {
            return nil
        }
        return freshness.refusedAge(saidAt: said, arrivingAt: boot).map { .old($0) }
    }

    mutating func renew(_ announcement: AnnouncedEpoch, at boot: Int64) -> Bool { clock.renew(announcement, at: boot) }

    /// Replaces the sender's clock by the clock in `announcement`, because the sender's wall clock was set. Only for an
    /// epoch without timing.
    mutating func resetClock(_ announcement: AnnouncedEpoch, at boot: Int64) {
        clock = SenderClock(announcement, at: boot)
    }

    /// Records that a packet was decrypted and was not late. `others` are the sender's clocks as other announcements of
    /// the epoch state them.
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
