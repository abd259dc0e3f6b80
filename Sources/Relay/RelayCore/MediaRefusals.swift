internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The datagrams of one talker that were refused, and not forwarded, in its session.
struct TalkerRefusals: Sendable {
    var counts = MediaRefusalCounts()
    /// The reason why the talker's SSRC could not be registered; nil if it was. Its media is refused for the same reason.
    var claim: MediaRefusal?
    /// Whether the talker is to be told the counts soon.
    var isDue = false
    /// The time from the next refused datagram to the record. It doubles with each record, since stations that do not know
    /// the record count it as one that they cannot decrypt.
    private(set) var delay = Duration.seconds(1)

    static let longestDelay = Duration.seconds(8)

    mutating func told() {
        isDue = false
        delay = min(delay * 2, Self.longestDelay)
    }
}

/// The talkers that are to be told that datagrams of theirs were refused, each at most once.
struct RefusalNotices: Sendable {
    private var notices: [(talker: TalkerIndex, due: Instant)] = []

    /// The time at which the next talker is to be told; nil if there is none.
    private(set) var deadline: Instant?

    mutating func add(_ talker: TalkerIndex, at due: Instant) {
        notices.append((talker, due))
        deadline = deadline.map { min($0, due) } ?? due
    }

    /// Removes and returns the talkers that are due.
    mutating func take(at now: Instant) -> [TalkerIndex] {
        guard let deadline, deadline <= now else { return [] }
        let due = notices.filter { $0.due <= now }.map(\.talker)
        notices.removeAll { $0.due <= now }
        self.deadline = notices.map(\.due).min()
        return due
    }
}

/// Tells talkers what of theirs was refused (Protocol/06-control.md, section "Refused packets").
extension Relay {
    /// Counts a datagram of a talker that has proved its origin by its hop tag, and is not forwarded.
    mutating func refuse(_ reason: RelayDiscard, of index: TalkerIndex, at now: Instant) -> Reception {
        guard var refusal = reason.mediaRefusal, let refusals = talkers[index]?.refusals else {
            return .discarded(reason)
        }
        if refusal == .unannounced { refusal = refusals.claim ?? refusal }
        talkers[index]?.refusals.counts.count(refusal)
        if !refusals.isDue {
            talkers[index]?.refusals.isDue = true
            refusalNotices.add(index, at: now + refusals.delay)
        }
        return .discarded(reason)
    }

    /// Refuses an announcement whose SSRC could not be registered.
    mutating func refuse(claim reason: RelayDiscard, of index: TalkerIndex, at now: Instant) -> Reception {
        talkers[index]?.refusals.claim = reason.mediaRefusal
        return refuse(reason, of: index, at: now)
    }

    /// Sends the talkers that are due the counts of what was refused.
    mutating func sendRefusals(at now: Instant) {
        for index in refusalNotices.take(at: now) {
            guard let talker = talkers[index], talker.refusals.isDue else { continue }
            talkers[index]?.refusals.told()
            // The counts of a member that has joined anew begin at zero.
            guard talker.refusals.counts.total > 0 else { continue }
            outbox.put(.refused(talker.refusals.counts), for: talker.member, of: &sessions)
        }
    }
}

extension RelayDiscard {
    /// The reason that a talker learns; nil for datagrams that no talker learns of.
    fileprivate var mediaRefusal: MediaRefusal? {
        switch self {
        case .tooManyPackets, .tooManyBits: .talkerRate
        case .tooManyChannelBits: .channelRate
        case .withoutFloor: .floor
        case .takenSSRC: .takenSSRC
        case .unannounced: .unannounced
        case .tooManyTalkers, .tooManyVoices: .tooManyTalkers
        case .tooManyAnnouncements: .tooManySSRCs
        default: nil
        }
    }
}
