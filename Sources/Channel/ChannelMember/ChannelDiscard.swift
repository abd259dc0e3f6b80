/// The reason why a datagram was discarded, from the network or from the RTP session. Each is counted.
public enum ChannelDiscard: Int, CaseIterable, Sendable {
    /// It came from another address than the relay's.
    case stranger
    /// It is no datagram of the protocol.
    case malformed
    /// A relay does not send it, or it answers nothing that we sent.
    case unexpected
    /// An announcement that no member made, or a record that the relay did not.
    case forged
    /// It came before, or is too old to tell.
    case replayed
    /// An announcement by a clock too far from ours, or from its sender's.
    case offTime
    /// Media that came more than 2 s later than the fastest packet of its epoch: it may have been withheld.
    case late
    /// An announcement, while talkers that are heard hold all entries of the table.
    case full
    /// Media whose announcement never came, or that no member sent: the two look alike.
    case unopened
    /// A datagram of the session, before we have joined.
    case beforeJoined
    /// Media of the session, although we only listen.
    case notTalking
    /// A retransmission of the session that is too old.
    case forgotten
    /// A datagram of the session that is too long, or that members do not send.
    case unsendable
}

/// Counts of discarded datagrams, by reason.
public struct ChannelDiscardCounts: Hashable, Sendable {
    private var counts = InlineArray<13, Int>(repeating: 0)

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
    /// The reasons that occurred: `3 forged, 1 offTime`.
    public var description: String {
        ChannelDiscard.allCases.filter { self[$0] > 0 }.map { "\(self[$0]) \($0)" }.joined(separator: ", ")
    }
}
