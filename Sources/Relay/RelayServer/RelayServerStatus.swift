public import TenfourNATS
public import TenfourRelayCluster
public import TenfourRelayCore
public import TenfourSession
public import TenfourUV

/// The state and the counters of a running relay since its start. They contain no secret and no address of a member.
public struct RelayServerStatus: Sendable, Equatable {
    public var listening: Endpoint
    public var uptime: Duration = .zero
    /// The number of sending threads.
    public var workers = 1
    /// The number of talkers that have their own socket.
    public var talkerSockets = 0
    /// The status of the encrypted channels.
    public var relay = RelayStatus()
    /// The fan-out statistics of each channel in `relay.channels`, in the same order.
    public var fanOuts: [FanOutStatistics] = []
    public var plain: [Plain] = []
    /// The combined statistics of the relay's sockets: the datagrams sent to single members (answers, retransmissions,
    /// GOODBYE), the datagrams received, the datagrams that were too long, and the failures by `errno`.
    public var socket = SocketStatistics()

    /// The state of the cluster; nil for a relay on its own.
    public var cluster: Cluster?

    /// The state of the connection to the other relays of a cluster.
    public struct Cluster: Sendable, Equatable {
        public var relays = ClusterStatus()
        public var nats = NATSStatus()

        public init(relays: ClusterStatus = ClusterStatus(), nats: NATSStatus = NATSStatus()) {
            self.relays = relays
            self.nats = nats
        }
    }

    /// The status of an unencrypted channel.
    public struct Plain: Sendable, Equatable {
        public var name: String
        public var targetCount: Int
        /// The number of packets that were received and forwarded.
        public var received = 0
        /// The number of bytes in these packets.
        public var receivedByteCount = 0
        public var discards: [PlainDiscard: Int] = [:]
        public var fanOut = FanOutStatistics()

        public init(name: String, targetCount: Int) {
            self.name = name
            self.targetCount = targetCount
        }
    }

    public init(listening: Endpoint) { self.listening = listening }
}

/// The reason why a datagram for a plain channel was not forwarded.
public enum PlainDiscard: Int, CaseIterable, Sendable {
    /// The datagram came from another host than the configured one.
    case stranger
    /// The datagram is not RTP version 2, or is truncated.
    case malformed
    /// The datagram is RTCP, which reports on one hop only and is meaningless beyond this hop.
    case control
    /// The datagram exceeds the input's limit of packets or bits per second.
    case tooMuch
}

extension PlainDiscard: CustomStringConvertible {
    /// A short English phrase for logs and status output.
    public var description: String {
        switch self {
        case .stranger: "from a sender that rtp-in does not name"
        case .malformed: "not RTP"
        case .control: "RTCP"
        case .tooMuch: "RTP above the limit per second"
        }
    }
}
