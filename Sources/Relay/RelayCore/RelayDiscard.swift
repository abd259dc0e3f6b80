/// The reason why the relay rejected a datagram. Rejected datagrams are counted by reason; no reason is an error of the
/// relay itself.
public enum RelayDiscard: Int, CaseIterable, Sendable {
    /// The datagram's first byte belongs to no protocol that the relay knows.
    case unknownProtocol
    /// A malformed control packet: its version, kind, length or a field is invalid.
    case malformedControl
    /// A valid control packet of a kind that members do not send to a relay.
    case unexpectedControl
    /// A JOIN, PLACE, MEET or LEAVE whose cookie is forged, expired, or bound to other addresses.
    case cookie
    /// A HELLO, or a JOIN, PLACE, MEET or LEAVE without a valid cookie, dropped because its host sends too many of them; or one of
    /// these or any message of pairing, because the output queue is full.
    case tooManyHandshakes
    /// A JOIN from a host that has sent too many wrong proofs. Also a JOIN that found no room in the queue of unchecked
    /// JOINs, or that waited too long in this queue.
    case tooManyFailures
    /// A JOIN for an unknown channel, or with a wrong proof.
    case unproved
    /// A JOIN for another relay, or for another role than the role of its join key.
    case refused
    /// A JOIN with a former key of its channel.
    case rekeyed
    /// A JOIN that was answered before, or that reuses the cookie of an earlier JOIN.
    case replayedJoin
    /// A JOIN whose X25519 public key is a point of low order, with which anybody could compute the agreed secret.
    case weakShare
    /// A JOIN2 that was sealed for another static key than the relay's.
    case otherRelayKey
    /// A JOIN2, or the first record of a session, of a member that the channel's owner has not added, not in this role, or
    /// has removed.
    case notAdmitted
    /// A JOIN, or the first record of a session, for which the channel or the relay has no room.
    case full
    /// A JOIN beyond the rate of its host or of the relay, or from a host with too many sessions that wait for their
    /// first record.
    case tooManyJoins
    /// A JOIN after the relay was stopped.
    case stopping
    /// A record with an unknown session id.
    case unknownSession
    /// A record whose authentication failed.
    case forgedRecord
    /// A record that was received before, or that is older than the replay window.
    case replayedRecord
    /// An authentic record whose content is invalid, or of a kind that members do not send.
    case malformedRecord
    /// A record beyond the rate limit of its session, or a roster request beyond the rate limit of the relay.
    case tooManyRecords
    /// A path answer without a matching challenge, or from another address than the challenged one.
    case strayPathAnswer
    /// A media datagram of a wrong length, without room for a hop tag, or with an RTCP packet type.
    case malformedMedia
    /// Media from an unknown address with an SSRC that no session has registered.
    case strangerMedia
    /// Media from a member that may only listen.
    case listenerMedia
    /// Media from a session that has not sent its first record.
    case earlyMedia
    /// Media whose hop tag is wrong.
    case forgedMedia
    /// Media that was received before, or that is older than the replay window.
    case replayedMedia
    /// Media with an SSRC that its session has not announced.
    case unannounced
    /// The announcement of an SSRC that another member of the channel or the relay itself uses.
    case takenSSRC
    /// The announcement of another SSRC beyond the rate at which a session may change its SSRC.
    case tooManyAnnouncements
    /// A datagram beyond the packet rate limit of its talker.
    case tooManyPackets
    /// A datagram beyond the bit rate limit of its talker.
    case tooManyBits
    /// A report that requests more retransmissions than the limits of its host, its network and the relay allow.
    case tooManyNACKs
    /// The announcement of one more SSRC than the channel may have.
    case tooManyTalkers
    /// Media of one more talker than the channel forwards at the same time.
    case tooManyVoices
    /// A datagram beyond the bit rate limit of its channel.
    case tooManyChannelBits
    /// A roster request with an invalid or expired receipt, or from another address than the member's.
    case staleReceipt
    /// Media of a member that does not have the floor, in a channel that requires it.
    case withoutFloor
    /// A deposit of a roster or a group secret, or a request for prekeys, from a member that may not make it.
    case notASigner
    /// A group secret that was sealed for an index that is not on the admission list.
    case depositForStranger
    /// A deposit that is not newer than what the relay has.
    case olderDeposit
    /// A deposit of a roster that the channel's owner has not signed.
    case falseRoster
    /// A station's request for a number while all places of its host or of the relay are taken, or beyond the rate of its
    /// host.
    case tooManyPlaces
    /// A number under which no station waits to be paired.
    case wrongNumber
    /// A number from a host or network that has named too many wrong ones, or that names numbers too often.
    case tooManyNumbers
    /// The number of a station with which the host has used its runs of pairing.
    case tooManyRuns
    /// The number of a station that is being paired with another one, or while the relay pairs as many as it may.
    case rendezvousFull
    /// A message of pairing that is malformed, or that belongs to no rendezvous in progress.
    case strayPairing
    /// A message of pairing, to a relay that pairs no stations.
    case pairingOff
}

extension RelayDiscard: CustomStringConvertible {
    /// A short English phrase for logs and status output.
    public var description: String {
        switch self {
        case .unknownProtocol: "unknown protocol"
        case .malformedControl: "malformed control packet"
        case .unexpectedControl: "control packet of a kind that only a relay sends"
        case .cookie: "join, or message of pairing, without a valid cookie"
        case .tooManyHandshakes: "too many handshakes from one address"
        case .tooManyFailures: "join from an address whose earlier joins failed too often"
        case .unproved: "join for an unknown channel, or with a wrong secret"
        case .refused: "join with a link for another relay, or with a key for another role"
        case .rekeyed: "join with a former secret of the channel"
        case .replayedJoin: "replayed join"
        case .weakShare: "join with a weak key share"
        case .otherRelayKey: "join for another relay key"
        case .notAdmitted: "join of a member that the channel's owner has not added, or has removed"
        case .full: "join while the channel or the relay is full"
        case .tooManyJoins: "too many joins per second"
        case .stopping: "join while the relay stops"
        case .unknownSession: "record of a session that has ended or never existed"
        case .forgedRecord: "forged record"
        case .replayedRecord: "replayed record"
        case .malformedRecord: "malformed record"
        case .tooManyRecords: "too many records per second"
        case .strayPathAnswer: "answer to an address check that the relay did not send"
        case .malformedMedia: "malformed media"
        case .strangerMedia: "media from an unknown address"
        case .listenerMedia: "media from a listener"
        case .earlyMedia: "media from a member whose join is not complete"
        case .forgedMedia: "forged media"
        case .replayedMedia: "replayed media"
        case .unannounced: "media with an SSRC that its member did not announce"
        case .takenSSRC: "announcement of another member's SSRC"
        case .tooManyAnnouncements: "too many SSRC announcements by one member"
        case .tooManyPackets: "media above the packet rate limit of a talker"
        case .tooManyBits: "media above the bit rate limit of a talker"
        case .tooManyNACKs: "request for too many retransmissions (NACK)"
        case .tooManyTalkers: "announcement of more talkers than the channel allows"
        case .tooManyVoices: "media above the limit of simultaneous voices of a channel"
        case .tooManyChannelBits: "media above the bit rate limit of a channel"
        case .staleReceipt: "request for the list of members without a valid proof of address"
        case .withoutFloor: "media of a member while another has the floor"
        case .notASigner: "deposit of a member that is neither the channel's owner nor a delegate"
        case .depositForStranger: "group secret for a member that the channel does not have"
        case .olderDeposit: "deposit that is not newer than the one held"
        case .falseRoster: "list of members that the channel's owner has not signed"
        case .tooManyPlaces: "too many stations that wait for pairing"
        case .wrongNumber: "number for pairing under which no station waits"
        case .tooManyNumbers: "too many numbers for pairing from one address"
        case .tooManyRuns: "too many attempts at pairing with one station"
        case .rendezvousFull: "number for pairing while its station or the relay has another pairing to do"
        case .strayPairing: "message of pairing between stations that have not met"
        case .pairingOff: "message of pairing, which is off (`pair on` in relay.conf allows it)"
        }
    }
}

/// The number of rejected datagrams for each reason.
public struct RelayDiscardCounts: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: RelayDiscard.allCases.count)

    public init() {}

    public subscript(reason: RelayDiscard) -> Int { counts[reason.rawValue] }

    public var total: Int { counts.reduce(0, +) }

    mutating func count(_ reason: RelayDiscard) { counts[reason.rawValue] += 1 }
}
