internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// A sender's clock in one epoch, against our CLOCK_BOOTTIME. It shows which packets somebody has withheld.
///
/// All numbers are milliseconds. The offset is ours less the sender's, so it holds the delay of the network, too.
struct SenderClock: Sendable {
    private var offset: Int64
    /// The newest clock value that was announced.
    private var newest: Int64
    /// Where the epoch's timestamps begin; nil where the sender does not tell.
    private let start: (clock: Int64, timestamp: RTPTimestamp)?

    /// How much later than the quickest of its epoch a packet may be.
    static let patience: Int64 = 2_000
    /// How long after the newest clock value packets are still opened.
    static let lifetime: Int64 = 15_000
    /// The offsets of announcements that a sender made at one moment differ by less.
    private static let closeness: Int64 = 250

    init(_ announcement: Announcement, at boot: Int64) {
        newest = announcement.milliseconds
        offset = boot - newest
        let epoch = announcement.epoch
        start = epoch.timing.map { (Int64(epoch.milliseconds), $0.timestamp) }
    }

    /// Whether the sender says with each packet what time it is.
    var isTimed: Bool { start != nil }

    /// Whether `announcement` may be of the moment that the first one said it was.
    func isClose(to announcement: Announcement, at boot: Int64) -> Bool {
        abs(boot - announcement.milliseconds - offset) <= Self.closeness
    }

    /// Whether `announcement` goes on with this clock.
    func continues(_ announcement: Announcement, at boot: Int64) -> Bool {
        abs(boot - announcement.milliseconds - offset) <= Self.patience
    }

    /// Takes a clock value. What is old renews nothing. Returns false, and takes nothing, where it is ahead of the sender's
    /// clock as we know it: members can make announcements of each other's epochs.
    mutating func renew(_ announcement: Announcement, at boot: Int64) -> Bool {
        guard announcement.milliseconds <= boot - offset + Self.patience else { return false }
        newest = max(newest, announcement.milliseconds)
        return true
    }

    func isExpired(at boot: Int64) -> Bool { boot - offset - newest > Self.lifetime }

    /// Our clock less the sender's, by a packet's timestamp; nil where the sender does not tell.
    func offset(of timestamp: RTPTimestamp, at boot: Int64) -> Int64? {
        start.map { boot - $0.clock - Int64(timestamp.distance(after: $0.timestamp).rawValue) / 48 }
    }

    /// Whether a packet comes so late that somebody may have withheld it.
    func isLate(_ timestamp: RTPTimestamp, at boot: Int64) -> Bool {
        offset(of: timestamp, at: boot).map { $0 > offset + Self.patience } ?? false
    }

    /// A packet was opened that was not late: the offset is never more than its own.
    mutating func heard(_ timestamp: RTPTimestamp, at boot: Int64) {
        if let own = offset(of: timestamp, at: boot) { offset = min(offset, own) }
    }

    /// The first packet was opened. `others` are the clocks that other announcements claimed for the epoch: the truest is the one
    /// closest to what the packet says, as no network is faster than none.
    mutating func heardFirst(_ timestamp: RTPTimestamp, at boot: Int64, others: [SenderClock]) {
        if let own = offset(of: timestamp, at: boot) {
            for other in others where other.offset > offset && other.offset <= own { offset = other.offset }
        }
        heard(timestamp, at: boot)
    }
}
