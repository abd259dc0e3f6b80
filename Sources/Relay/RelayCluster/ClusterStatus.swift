/// Counters of a relay's part in its cluster since its start.
public struct ClusterStatus: Sendable, Equatable {
    /// The number of other relays that are present.
    public var relayCount = 0
    /// The longest round-trip time to another relay that is present; nil if there is none.
    public var roundTrip: Duration?
    public var sentCount = 0
    public var sentByteCount = 0
    /// The number of messages received and accepted.
    public var receivedCount = 0
    public var receivedByteCount = 0
    /// Messages received and ignored, by reason.
    public var discards: [ClusterDiscard: Int] = [:]
    /// The number of missing packets that were requested from other relays.
    public var requestedCount = 0
    /// The number of packets sent again to other relays.
    public var retransmittedCount = 0
    /// The number of relays that were present and are gone.
    public var goneCount = 0
    /// The number of these that have not said so. Such a relay may only be cut off, and go on for its own members.
    public var silencedCount = 0

    public init() {}
}

/// The reason why a message of the cluster was ignored.
public enum ClusterDiscard: String, CaseIterable, Sendable {
    /// The bytes are not a message of this version of the protocol.
    case malformed
    /// The counter was used before, or the message may be older than two seconds.
    case replayed
    /// The tag is wrong: another cluster key, or a stranger.
    case forged
    /// The relay has not shown that it is present, or there are too many relays.
    case stranger
    /// The message is about a channel that this relay does not have, or that has no members here.
    case unknownChannel = "unknown-channel"
}

extension ClusterDiscard: CustomStringConvertible {
    /// A short English phrase for logs and status output.
    public var description: String {
        switch self {
        case .malformed: "not understood"
        case .replayed: "repeated or too old"
        case .forged: "sealed with another cluster key"
        case .stranger: "from a relay that has not answered"
        case .unknownChannel: "for a channel without members here"
        }
    }
}
