internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The datagrams of one talker that were refused, and not forwarded, in its session.
struct TalkerRefusals: Sendable {
    var counts = MediaRefusalCounts()
    /// The reason why the talker's SSRC could not be registered; nil if it was. Its media is refused for the same reason.
    var claim: MediaRefusal?
    /// Whether the talker is to be told the counts soon.
    var isDue = false
}

/// The talkers that are to be told that datagrams of theirs were refused, in the order in which this is due.
struct RefusalNotices: Sendable {
    private var notices: [(talker: TalkerIndex, due: Instant)] = []

    /// The time from the first refused datagram to the record, which thus has the counts of one second.
    static let delay = Duration.seconds(1)

    var deadline: Instant? { notices.first?.due }

    mutating func add(_ talker: TalkerIndex, at now: Instant) { notices.append((talker, now + Self.delay)) }

    mutating func next(at now: Instant) -> TalkerIndex? {
        guard let first = notices.first, first.due <= now else { return nil }
        notices.removeFirst()
        return first.talker
    }
}

/// Tells talkers what of theirs was refused (Protocol/06-control.md, section "Refused packets").
extension Relay {
    /// Counts a datagram of a talker that has proved its origin by its hop tag, and is not forwarded.
    mutating func refuse(_ reason: RelayDiscard, of index: TalkerIndex, at now: Instant) -> Reception {
        guard var refusal = reason.mediaRefusal, let isDue = talkers[index]?.refusals.isDue else {
            return .discarded(reason)
        }
        if refusal == .unannounced { refusal = talkers[index]?.refusals.claim ?? refusal }
        talkers[index]?.refusals.counts.count(refusal)
        if !isDue {
            talkers[index]?.refusals.isDue = true
            refusals.add(index, at: now)
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
        while let index = refusals.next(at: now) {
            guard let talker = talkers[index], talker.refusals.isDue else { continue }
            talkers[index]?.refusals.isDue = false
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
