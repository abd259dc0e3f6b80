/// Why a datagram went no further. Each is counted; none is an error of ours.
public enum RelayDiscard: Int, CaseIterable, Sendable {
    /// Its first byte belongs to no protocol a relay speaks.
    case unknownProtocol
    /// No control packet: its version, kind, length or a field is no sender's.
    case malformedControl
    /// A control packet that only relays send, or that is none of a member's business.
    case unexpectedControl
    /// A JOIN with a cookie that is not ours, not alive, or of other addresses.
    case cookie
    /// A HELLO, or a JOIN without a valid cookie, from where too many have come.
    case tooManyHandshakes
    /// A JOIN from where too many have failed within a second.
    case tooManyFailures
    /// A JOIN for a channel that is not here, or without its key.
    case unproved
    /// A JOIN for another relay, or in another role than its key's.
    case refused
    /// A JOIN with the key that a channel had before.
    case rekeyed
    /// A JOIN that came before.
    case replayedJoin
    /// A JOIN with a share that everybody could agree with.
    case weakShare
    /// A JOIN for which there is no room.
    case full
    /// A JOIN beyond those that are taken in a second.
    case tooManyJoins
    /// A JOIN while the relay stops.
    case stopping
    /// A record of no session.
    case unknownSession
    /// A record that its session's member did not seal.
    case forgedRecord
    /// A record that came before, or is too old to tell.
    case replayedRecord
    /// Sealed by a member, and yet no record, or none that a member sends.
    case malformedRecord
    /// Records of one session beyond those that are taken in a second.
    case tooManyRecords
    /// The answer to no challenge of ours, or from elsewhere.
    case strayPathAnswer
    /// Too short or too long for SRTP with a hop tag, or SRTCP.
    case malformedMedia
    /// Media from an address, and of an SSRC, that no session has.
    case strangerMedia
    /// Media from one who only listens.
    case listenerMedia
    /// Media from one whose first record has not come.
    case earlyMedia
    /// Media with a hop tag that is wrong.
    case forgedMedia
    /// Media that came before, or is too old to tell.
    case replayedMedia
    /// Media of an SSRC that its session has not announced.
    case unannounced
    /// The announcement of an SSRC that another member has.
    case takenSSRC
    /// Announcements of ever other SSRCs.
    case tooManyAnnouncements
    /// Datagrams of one talker beyond those that are taken in a second.
    case tooManyPackets
    /// Bits of one talker beyond those that are taken in a second.
    case tooManyBits
    /// Reports that ask for more packets than those of a host may.
    case tooManyNACKs
    /// The announcement of one more SSRC than a channel has room for.
    case tooManyTalkers
    /// Media of one more talker than are heard at the same time in a channel.
    case tooManyVoices
    /// Bits of all talkers of a channel beyond those that are forwarded in a second.
    case tooManyChannelBits
    /// A request of one who may not receive any more where it was.
    case staleReceipt
}

extension RelayDiscard: CustomStringConvertible {
    /// For people.
    public var description: String {
        switch self {
        case .unknownProtocol: "of an unknown protocol"
        case .malformedControl: "malformed control packet"
        case .unexpectedControl: "control packet that members do not send"
        case .cookie: "join without a valid cookie"
        case .tooManyHandshakes: "handshakes beyond the limit of an address"
        case .tooManyFailures: "join from an address with too many failures"
        case .unproved: "join for an unknown channel, or with a wrong secret"
        case .refused: "join for another relay, or in another role"
        case .rekeyed: "join with a former secret of the channel"
        case .replayedJoin: "replayed join"
        case .weakShare: "join with a weak key share"
        case .full: "join while full"
        case .tooManyJoins: "joins beyond the limit per second"
        case .stopping: "join while stopping"
        case .unknownSession: "record of no session"
        case .forgedRecord: "forged record"
        case .replayedRecord: "replayed record"
        case .malformedRecord: "malformed record"
        case .tooManyRecords: "records beyond the limit per second"
        case .strayPathAnswer: "path answer without a challenge"
        case .malformedMedia: "malformed media"
        case .strangerMedia: "media from an unknown address"
        case .listenerMedia: "media from a listener"
        case .earlyMedia: "media before the first record"
        case .forgedMedia: "forged media"
        case .replayedMedia: "replayed media"
        case .unannounced: "media that was not announced"
        case .takenSSRC: "announcement of another member's SSRC"
        case .tooManyAnnouncements: "announcements of too many SSRCs"
        case .tooManyPackets: "media beyond the packet limit of a talker"
        case .tooManyBits: "media beyond the bit limit of a talker"
        case .tooManyNACKs: "NACKs beyond the limit of a host"
        case .tooManyTalkers: "announcement beyond the talker limit of a channel"
        case .tooManyVoices: "media beyond the limit of simultaneous voices"
        case .tooManyChannelBits: "media beyond the bit limit of a channel"
        case .staleReceipt: "request with a stale receipt"
        }
    }
}

/// How many datagrams went no further, by reason.
public struct RelayDiscardCounts: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: RelayDiscard.allCases.count)

    public init() {}

    public subscript(reason: RelayDiscard) -> Int { counts[reason.rawValue] }

    public var total: Int { counts.reduce(0, +) }

    mutating func count(_ reason: RelayDiscard) { counts[reason.rawValue] += 1 }
}
