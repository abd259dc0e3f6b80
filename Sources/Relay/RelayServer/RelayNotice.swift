public import TenfourRelayCore
public import TenfourSession
public import TenfourUV

/// A message from a relay to its operator.
public enum RelayNotice: Sendable, Equatable {
    /// Members can join at this address.
    case listening(Endpoint)
    /// A plain channel receives RTP at this address.
    case receiving(channel: String, Endpoint)
    /// A plain channel with this payload type is announced on this multicast group.
    case announcing(channel: String, Endpoint, payloadType: UInt8)
    /// A plain channel's input could not be opened when the configuration was reloaded. All other changes took effect.
    case inputRefused(channel: String, Endpoint, NetworkError)
    /// A changed listening address or number of threads takes effect only when the relay is restarted.
    case waitsForRestart
    /// A new configuration has taken effect, as far as it can without a restart.
    case reloaded
    /// The file with the members of a channel that has an owner is taken for none, for this reason.
    case membersUnknown(channel: String, String)
    /// The file with the members of a channel that has an owner could not be written, for this reason. What is deposited in the
    /// channel has no effect until it can be.
    case membersNotStored(channel: String, String)
    /// The packets dropped since the last notice of dropped packets, most frequent reason first. This notice is posted
    /// at most once in ten seconds.
    case dropped([Drop])
    /// The cluster has changed.
    case cluster(ClusterChange)

    public enum ClusterChange: Sendable, Equatable {
        case connected
        /// There is no connection to NATS, for this reason.
        case disconnected(String)
        /// The number of other relays that are present.
        case relays(Int)
        /// Another relay has fallen silent, and these channels require the floor. If it is only cut off, it grants the floor too.
        case floorsApart(channels: [String])
    }

    public struct Drop: Sendable, Equatable {
        public var reason: Reason
        public var count: Int

        public init(reason: Reason, count: Int) {
            self.reason = reason
            self.count = count
        }
    }

    public enum Reason: Sendable, Hashable {
        /// A packet was received for an encrypted channel or for no channel, and rejected for this reason.
        case relay(RelayDiscard)
        /// A packet was received for the plain channel of this name, and rejected for this reason.
        case plain(PlainDiscard, channel: String)
        /// A packet was not sent to a member of the channel of this name, because the network accepted no more packets.
        case congestion(channel: String)
        /// A received packet was longer than the longest datagram that is forwarded.
        case tooLong
        /// A datagram for a single member was dropped, because the network accepted no more and the send queue was
        /// full. It was the oldest datagram in the queue.
        case queue
        /// A packet was not sent, because this machine or the network refused it with this `errno`.
        case network(Int32)
    }
}

extension RelayNotice.Drop: CustomStringConvertible {
    /// A count and a reason, such as `12 packets: media from an unknown address`.
    public var description: String { "\(count) \(count == 1 ? "packet" : "packets"): \(reason)" }
}

extension RelayNotice.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .relay(let reason): "\(reason)"
        case .plain(let reason, let channel): "\(reason), channel \(channel)"
        case .congestion(let channel): "network congested, channel \(channel)"
        case .tooLong: "too long to be forwarded"
        case .queue: "network congested while sending to one member"
        case .network(let code): NetworkError.text(for: code)
        }
    }
}
