/// Why a datagram was forgotten, one that came or one of the station's. Each is counted; none is an error of ours.
public enum ChannelDiscard: Int, CaseIterable, Sendable {
    /// From another address than the relay's.
    case stranger
    /// Nothing that the protocol knows.
    case malformed
    /// What no relay sends, or an answer to nothing that we said.
    case unexpected
    /// An announcement that no member made, or a record that the relay did not.
    case forged
    /// Came before, or is too old to tell.
    case replayed
    /// An announcement by a clock too far from ours, or from its sender's.
    case offTime
    /// Sound that comes more than 2 s later than the quickest of its epoch: it may have been withheld.
    case late
    /// An announcement for which all places are taken by talkers that are heard.
    case full
    /// Sound whose announcement never came, or sound that nobody in the channel made: the two look alike.
    case unopened
    /// The station's, before we were let in.
    case beforeJoined
    /// The station's sound, where we only listen.
    case notTalking
    /// The station's, too old to be sent again.
    case forgotten
    /// The station's, longer than a datagram may be, or nothing that a member sends.
    case unsendable
}

/// How many datagrams were forgotten, by reason.
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
