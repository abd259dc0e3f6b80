/// The reason for discarding a datagram from the network or a packet from the RTP session. Discards are counted by
/// reason.
public enum ChannelDiscard: Int, Error, CaseIterable, Sendable {
    /// The sender's endpoint is not the relay's.
    case stranger
    /// The datagram is not a valid packet of the protocol: its length, its kind or a field is invalid.
    case malformed
    /// The datagram is of a kind that relays do not send, or it is an answer to a request that we did not send.
    case unexpected
    /// An announcement that no member made, or a record that the relay did not make.
    case forged
    /// The datagram has been received before, or is older than the replay window.
    case replayed
    /// An announcement that states a time too far from our clock, or from the talker's clock as known from earlier
    /// packets.
    case offTime
    /// Media that was delayed over 2 s longer than the fastest packet of its epoch, or is too old by the talker's clock.
    /// An attacker on the path may have held it back.
    case late
    /// An announcement of a new talker or key for which the table of talkers has no free slot.
    case full
    /// Media that could not be decrypted: its announcement was lost, or no member sent it. The two cases cannot be
    /// distinguished.
    case unopened
    /// A packet that the RTP session sent before we had joined.
    case beforeJoined
    /// An RTP packet that the RTP session sent although we only listen.
    case notTalking
    /// A retransmission by the RTP session, of a packet whose encrypted bytes are no longer stored.
    case forgotten
    /// A packet of the RTP session that is too long, or of a kind that members do not send.
    case unsendable
    /// An announcement of somebody who is not in the roster of a managed channel, or only listens.
    case notAMember
    /// An announcement for the SSRC of another member, whose packets were decrypted in the last 15 s.
    case anotherMembersSSRC
    /// A signed announcement that came when more signatures were to be checked than are checked.
    case tooManySignatures
    /// An announcement whose signature is not that of the member whom it names.
    case falseName
    /// An announcement of a member whose key is not the one that the user has compared.
    case changedKey
    /// A packet that the RTP session sent in a managed channel before there was a group secret.
    case withoutSecret
    /// Media or an announcement without a right trailer of the relay. Everybody with a link could have made it.
    case notFromRelay
}

/// Counts of discarded datagrams, by reason.
public struct ChannelDiscardCounts: Hashable, Sendable {
    private var counts = InlineArray<20, Int>(repeating: 0)

    public init() {}

    public subscript(reason: ChannelDiscard) -> Int { counts[reason.rawValue] }

    public var total: Int { ChannelDiscard.allCases.reduce(0) { $0 + self[$1] } }

    mutating func count(_ reason: ChannelDiscard) { counts[reason.rawValue] += 1 }

    public static func == (left: Self, right: Self) -> Bool {
        ChannelDiscard.allCases.allSatisfy { left[$0] == right[$0] }
    }

    public func hash(into hasher: inout Hasher) {
        for reason in ChannelDiscard.allCases { hasher.combine(self[reason]) }
    }
}

extension ChannelDiscardCounts: CustomStringConvertible {
    /// The number of discards for each reason that has occurred, such as `3 forged, 1 offTime`.
    public var description: String {
        ChannelDiscard.allCases.filter { self[$0] > 0 }.map { "\(self[$0]) \($0)" }.joined(separator: ", ")
    }
}
