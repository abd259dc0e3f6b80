internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// A sender's clock in one epoch, relative to our CLOCK_BOOTTIME. It serves to recognise packets that an attacker may
/// have held back.
///
/// All numbers are in milliseconds. The offset is our clock minus the sender's clock; it includes the network delay.
struct SenderClock: Sendable {
    private var offset: Int64
    /// The offset of the earliest packet so far; nil before the first one.
    private var earliest: Int64?
    /// The least value of `offset`, because everybody with a listen link can make packets that come early; nil before the first
    /// packet.
    private var least: Int64?
    /// The latest time of day that the sender has announced, in milliseconds since 1970.
    private var newest: Int64
    /// The sender's clock and RTP timestamp when it created the epoch; nil if the epoch has no timing.
    private let start: (clock: Int64, timestamp: RTPTimestamp)?

    /// The maximum delay of a packet, relative to the fastest packet of its epoch, in milliseconds. A packet with a
    /// longer delay is discarded.
    static let patience: Int64 = 2_000
    /// The time, in milliseconds, for which packets are decrypted after the latest time that the sender has announced.
    /// It is measured by the sender's clock.
    static let lifetime: Int64 = 15_000
    /// The largest difference between the clock offsets of two announcements that agree, in milliseconds.
    private static let closeness: Int64 = 250

    /// The largest advance of a packet before the earliest one so far, in milliseconds.
    private static let longestAdvance: Int64 = 500
    /// The largest decrease of the offset after the first packet, in milliseconds.
    private static let longestDecrease: Int64 = 1_000

    init(_ announcement: AnnouncedEpoch, at boot: Int64) {
        newest = announcement.milliseconds
        offset = boot - newest
        let epoch = announcement.epoch
        start = epoch.timing.map { (Int64(epoch.milliseconds), $0.timestamp) }
    }

    /// Whether the epoch has a timing. If so, the sender's clock follows from each packet's timestamp.
    var isTimed: Bool { start != nil }

    /// Whether the clock offset of `announcement` differs from the stored offset by at most 250 ms.
    func isClose(to announcement: AnnouncedEpoch, at boot: Int64) -> Bool {
        abs(boot - announcement.milliseconds - offset) <= Self.closeness
    }

    /// Whether the clock offset of `announcement` differs from the stored offset by at most 2 s.
    func continues(_ announcement: AnnouncedEpoch, at boot: Int64) -> Bool {
        abs(boot - announcement.milliseconds - offset) <= Self.patience
    }

    /// Stores the time in an announcement if it is later than the stored time. Returns false, and stores nothing, if
    /// the announced time is more than 2 s ahead of our estimate of the sender's clock. Such times occur because every
    /// member can make announcements for any epoch.
    mutating func renew(_ announcement: AnnouncedEpoch, at boot: Int64) -> Bool {
        guard announcement.milliseconds <= boot - offset + Self.patience else { return false }
        newest = max(newest, announcement.milliseconds)
        return true
    }

    func isExpired(at boot: Int64) -> Bool { boot - offset - newest > Self.lifetime }

    /// Returns our clock minus the sender's clock in milliseconds, computed from a packet's timestamp; nil if the epoch
    /// has no timing.
    func offset(of timestamp: RTPTimestamp, at boot: Int64) -> Int64? {
        start.map { boot - $0.clock - Int64(timestamp.distance(after: $0.timestamp).rawValue) / 48 }
    }

    /// Returns the sender's clock when it said a packet, in milliseconds since 1970; nil if the epoch has no timing.
    func time(of timestamp: RTPTimestamp) -> Int64? {
        start.map { $0.clock + Int64(timestamp.distance(after: $0.timestamp).rawValue) / 48 }
    }

    /// Returns by how many milliseconds a packet is later than the fastest packet of its epoch, if it is so late that an
    /// attacker may have held it back: over 2 s; otherwise nil.
    func lateness(_ timestamp: RTPTimestamp, at boot: Int64) -> Int64? {
        offset(of: timestamp, at: boot).flatMap { $0 > offset + Self.patience ? $0 - offset : nil }
    }

    /// Whether a packet comes too early to be the talker's, compared with all packets before, or with the announcement: the
    /// packets between would have come earlier one by one.
    func isEarly(_ timestamp: RTPTimestamp, at boot: Int64) -> Bool {
        guard let own = offset(of: timestamp, at: boot) else { return false }
        return own < earliest.map { $0 - Self.longestAdvance } ?? offset - Self.patience
    }

    /// Updates the offset by a packet that was decrypted and not late. The smallest offset is kept, at most 1 s below that
    /// after the first packet: so no packet makes the talker's own packets late.
    mutating func heard(_ timestamp: RTPTimestamp, at boot: Int64) {
        guard let own = offset(of: timestamp, at: boot) else { return }
        earliest = min(earliest ?? own, own)
        let least = least ?? min(offset, own) - Self.longestDecrease
        self.least = least
        offset = max(min(offset, own), least)
    }

    /// Sets the offset from the first decrypted packet of the epoch. `others` are the sender's clocks as other
    /// announcements of the epoch state them. The largest offset that is not above the packet's own offset is the most
    /// credible one, because no network delay is negative.
    mutating func heardFirst(_ timestamp: RTPTimestamp, at boot: Int64, others: [SenderClock]) {
        if let own = offset(of: timestamp, at: boot) {
            for other in others where other.offset > offset && other.offset <= own { offset = other.offset }
        }
        heard(timestamp, at: boot)
    }
}
