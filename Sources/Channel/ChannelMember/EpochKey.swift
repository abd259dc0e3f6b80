internal import TenfourAudioCore
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
    /// The SSRC under which packets are delivered while another key owns the announced SSRC.
    let rivalSSRC: SSRC
    /// Whether the key has owned the SSRC.
    var wasOwner = false
    /// CLOCK_BOOTTIME in milliseconds when the epoch was announced first.
    let made: Int64
    private var usage: KeyUse
    /// CLOCK_BOOTTIME in milliseconds when the key came into use first; nil before that.
    private(set) var usedSince: Int64?
    private let suite: SRTPSuite
    private let index: PacketIndex
    /// The highest index of the decrypted packets, and the timestamp of that packet.
    private var highest: PacketIndex
    private var highestTimestamp = RTPTimestamp(rawValue: 0)
    /// CLOCK_BOOTTIME in milliseconds at the latest decrypted packet.
    private var openedAt: Int64 = 0
    /// The time in milliseconds for numbers that the next packet may leave out, besides the time since `openedAt`.
    private var timeLeft = Self.mostTime

    /// The maximum number of packets by which the index in an announcement may be above the index that this key was
    /// made from. An announcement beyond this maximum does not agree with this key.
    private static let reach: UInt64 = 1 << 14

    /// `clock` is the sender's clock as another key of the epoch has measured it. If `clock` is nil, the sender's clock
    /// is computed from the announcement.
    init(
        _ announcement: AnnouncedEpoch, of origin: EpochOrigin, clock: SenderClock? = nil, announced: Int,
        since made: Int64? = nil, rivalSSRC: SSRC, at now: ClockReading
    ) {
        epoch = announcement.epoch
        self.origin = origin
        self.rivalSSRC = rivalSSRC
        self.made = made ?? now.bootMilliseconds
        usage = KeyUse(at: now.bootMilliseconds)
        suite = announcement.suite
        index = announcement.index
        highest = announcement.index
        self.clock = clock ?? SenderClock(announcement, at: now.bootMilliseconds)
        error = now.error(of: announcement)
        self.announced = announced
    }

    /// Makes another key of the same epoch, for packets from `index` on that this key does not decrypt.
    init(beside key: EpochKey, at index: PacketIndex, rivalSSRC: SSRC, _ boot: Int64) {
        (epoch, origin, suite, clock, error) = (key.epoch, key.origin, key.suite, key.clock, key.error)
        (announced, made, self.rivalSSRC, self.index, highest) = (key.announced, boot, rivalSSRC, index, index)
        usage = KeyUse(at: boot)
    }

    func masterKey(of ssrc: SSRC) -> SRTPMasterKey { origin.root.masterKey(suite, ssrc: ssrc, epoch: epoch) }

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

    /// How much the key was used recently; less than zero if it has expired.
    func use(at boot: Int64) -> Int { isExpired(at: boot) ? -1 : usage.count(at: boot) }

    /// Whether the key is in use, so that no other one may take its slot.
    func isInUse(at boot: Int64) -> Bool { use(at: boot) >= KeyUse.least }

    // MARK: - Packets that do not fit

    /// The least difference of the timestamps of two packets in sequence, in samples: the shortest frame of Opus.
    private static let shortestFrame: Int64 = 120
    /// The time in milliseconds for each number that is left out, before the next packet. It is less than that of the shortest frame,
    /// because clocks differ.
    private static let leastTime: Int64 = 2
    /// The largest time that is left when a packet has come: for 100 numbers. An access point may deliver at once what has waited,
    /// with a gap where its queue was full.
    private static let mostTime: Int64 = 200

    func closest(_ number: SequenceNumber) -> PacketIndex { highest.closest(number) }

    /// Whether a packet may be the talker's by its number and timestamp. A number far ahead would make all packets of the
    /// talker too old for the replay window, and a timestamp that does not follow the number would put them out of order in
    /// the jitter buffer.
    func fits(_ number: SequenceNumber, _ timestamp: RTPTimestamp, at boot: Int64) -> Bool {
        guard !clock.isEarly(timestamp, at: boot) else { return false }
        guard hasOpened else { return true }
        let step = Int64(number.distance(after: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: highest.rawValue))))
        let time = Int64(timestamp.distance(after: highestTimestamp).rawValue)
        guard (step - 1) * Self.leastTime <= timeLeft + max(boot - openedAt, 0) else { return false }
        return step == 0 || (step > 0 ? time >= step * Self.shortestFrame : time <= step * Self.shortestFrame)
    }

    /// Whether a packet is so far behind that the key may have decrypted it and forgotten it. With timing, such a packet is late.
    func isForgotten(_ number: SequenceNumber) -> Bool {
        !clock.isTimed && closest(number).rawValue + UInt64(RecentPackets.count) <= highest.rawValue
    }

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
        let hadOpened = hasOpened
        hasOpened = true
        usage.packetDecrypted(at: boot)
        if usedSince == nil, isInUse(at: boot) { usedSince = boot }
        let latest = closest(SequenceNumber(rawValue: packet.uint16(at: 2)))
        if hadOpened {
            let missing = latest > highest ? Int64(latest.rawValue - highest.rawValue) - 1 : 0
            timeLeft = min(timeLeft + max(boot - openedAt, 0) - missing * Self.leastTime, Self.mostTime)
        }
        openedAt = max(openedAt, boot)
        if latest > highest || !hadOpened { (highest, highestTimestamp) = (latest, timestamp) }
    }
}
