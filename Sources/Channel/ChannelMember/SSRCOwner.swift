internal import TenfourPackets

/// Which of the keys that decrypt packets of one SSRC delivers them under this SSRC. The others are its rivals: each of them
/// delivers under an SSRC of its own, so that what somebody forges is heard apart from what the talker says.
///
/// All times are CLOCK_BOOTTIME in milliseconds.
struct SSRCOwner: Sendable {
    /// The index of the key; nil if there is none.
    private(set) var place: Int?
    /// The index of the key that had the SSRC before it; nil if there is none.
    private(set) var former: Int?
    /// The number of the first packet that the key has delivered.
    private(set) var first = SequenceNumber(rawValue: 0)
    private var highest = SequenceNumber(rawValue: 0)
    private var heardAt: Int64 = 0
    /// The time at which the key got the SSRC.
    private var takenAt: Int64 = 0
    /// Whether the key continued the packets of the one before.
    private var hasContinued = false
    private var contestedUntil: Int64 = .min
    /// The number of packets of rivals that are not counted as interference yet, and the time of the first one.
    private var pending: (count: Int, since: Int64) = (0, 0)
    /// The number of newer packets of the owner that have come after `pending` began.
    private var newerCount = 0
    /// The number of packets of rivals that have come beside those of the owner.
    private(set) var interferenceCount = 0

    /// The time for which the owner must be silent before another key takes its place.
    private static let silence: Int64 = 1_000
    /// The same if the SSRC is contested: until the owner's key has expired.
    private static let contestedSilence = SenderClock.lifetime
    /// The time for which an SSRC remains contested.
    private static let contest: Int64 = 60_000
    /// The time by which a talker's next epoch is announced before its first packet, as far as announcements are not lost.
    private static let notice: Int64 = 500
    /// The time without a packet of the owner after which another epoch needs no notice.
    private static let pause: Int64 = 200
    /// The number of packets that may be lost where the next epoch begins, beyond those of the time without packets.
    private static let gap = 8
    /// The largest number of packets in the time without packets: 2 s of the shortest ones, each 2.5 ms.
    private static let mostLost: Int64 = 800
    /// The packets that may be on the way when the talker's next epoch begins: up to this number before its first one, for this time.
    /// That is 2 s of the shortest packets.
    private static let (reach, reachTime) = (800, Int64(2_000))
    /// The time after which the former owner gets the SSRC back only if it has been used more than the present one.
    private static let newness: Int64 = 1_000
    /// The owner is there beside a rival if this many newer packets of it come, over this time. Packets that overtake each
    /// other where one epoch follows another are no contest.
    private static let proof = (packetCount: 3, time: Int64(200))

    func isContested(at boot: Int64) -> Bool { boot < contestedUntil }

    func isSilent(at boot: Int64) -> Bool {
        place == nil || boot - heardAt >= (isContested(at: boot) ? Self.contestedSilence : Self.silence)
    }

    /// Whether a packet `number` of a key that was announced at `announced` continues the owner's packets.
    func isContinued(by number: SequenceNumber, announcedAt announced: Int64, at boot: Int64) -> Bool {
        let lost = Int(min(max(boot - heardAt, 0) * 2 / 5, Self.mostLost))
        return !isContested(at: boot) && (boot - announced >= Self.notice || boot - heardAt >= Self.pause)
            && (1...Self.gap + lost).contains(number.distance(after: highest))
    }

    /// Whether a packet of a former owner was on the way when the present one got the SSRC.
    func isJustBefore(_ number: SequenceNumber, at boot: Int64) -> Bool {
        hasContinued && boot - takenAt < Self.reachTime && (-Self.reach..<0).contains(number.distance(after: first))
    }

    /// Whether the key has got the SSRC only just now.
    func isNew(at boot: Int64) -> Bool { boot - takenAt < Self.newness }

    /// Gives the SSRC to the key at `place`, from the packet `number` on, which continues the packets before or follows a pause.
    mutating func take(_ place: Int, from number: SequenceNumber, continues: Bool, at boot: Int64) {
        hasContinued = continues
        if self.place != place { (former, self.place) = (self.place ?? former, place) }
        (first, highest, heardAt, takenAt) = (number, number, boot, boot)
        (pending, newerCount) = ((0, 0), 0)
    }

    /// Gives the SSRC back to an earlier owner, whose packets go on.
    mutating func giveBack(to place: Int, from number: SequenceNumber, at boot: Int64) {
        take(place, from: number, continues: false, at: boot)
        // The other one does not get it back by the same rule.
        takenAt = boot - Self.newness
        contestedUntil = boot + Self.contest
        interferenceCount += 1
    }

    mutating func heard(_ number: SequenceNumber, at boot: Int64) {
        let isNewer = number.distance(after: highest) > 0
        if isNewer { highest = number }
        heardAt = max(heardAt, boot)
        guard isNewer, pending.count > 0 else { return }
        newerCount += 1
        guard newerCount >= Self.proof.packetCount, boot - pending.since >= Self.proof.time else { return }
        contestedUntil = boot + Self.contest
        interferenceCount += pending.count
        pending.count = 0
    }

    mutating func rivalHeard(at boot: Int64) {
        if isContested(at: boot) {
            contestedUntil = boot + Self.contest
            interferenceCount += 1
        } else {
            if pending.count == 0 { (pending.since, newerCount) = (boot, 0) }
            pending.count += 1
        }
    }

    /// Takes note that the key at `place` was removed.
    mutating func removed(_ place: Int) {
        if self.place == place { self.place = nil }
        if former == place { former = nil }
    }
}
