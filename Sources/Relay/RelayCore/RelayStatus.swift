public import TenfourFloor

/// Counters of a relay for status output. They contain no address and no secret.
public struct RelayStatus: Sendable, Equatable {
    /// The configured channels.
    public var channels: [Channel] = []
    /// The channels of stations that have paired through the relay; nil if it pairs none.
    public var paired: Paired?
    /// Datagrams rejected since the relay was started, by reason.
    public var discards = RelayDiscardCounts()

    /// The counters of one channel. Packets are counted since the channel was configured.
    public struct Channel: Sendable, Equatable {
        public var name: String
        /// The channel's index in the relay: the number of its `ChannelIndex`.
        public var number = 0
        /// The number of members, talkers and listeners together.
        public var memberCount = 0
        /// The number of members that have joined since the channel was configured. A member that joins again counts
        /// again.
        public var joinedCount = 0
        /// The number of members that may only listen.
        public var listenerCount = 0
        /// The number of members at the other relays of the cluster.
        public var remoteMemberCount = 0
        /// The number of talkers that have sent a packet within the last ten seconds.
        public var talkerCount = 0
        /// The number of datagrams forwarded; a datagram counts once, not once for each member.
        public var forwardedCount = 0
        /// The number of bytes in the forwarded datagrams, each datagram counted once.
        public var forwardedByteCount = 0
        /// The number of packets retransmitted to single listeners.
        public var retransmittedCount = 0
        /// The number of packets whose retransmission was requested from talkers because they had not arrived.
        public var requestedCount = 0
        /// Who has the floor; nil if nobody has requested it yet, and the channel does not require it.
        public var floor: FloorStatus?

        public init(name: String) { self.name = name }
    }

    /// The counters of all channels of stations that have paired through the relay, together. Packets are counted since the
    /// relay was started, or last began to pair stations.
    public struct Paired: Sendable, Equatable {
        /// The number of channels that somebody is in.
        public var channelCount = 0
        public var memberCount = 0
        /// The number of members that have joined; a member that joins again counts again.
        public var joinedCount = 0
        /// The number of datagrams forwarded; a datagram counts once, not once for each member.
        public var forwardedCount = 0
        /// The number of bytes in the forwarded datagrams, each datagram counted once.
        public var forwardedByteCount = 0
        /// The number of packets retransmitted to single listeners.
        public var retransmittedCount = 0
        /// The number of packets whose retransmission was requested from talkers because they had not arrived.
        public var requestedCount = 0

        public init() {}

        /// Adds what one channel has counted since it began.
        mutating func add(_ channel: Channel) {
            joinedCount += channel.joinedCount
            forwardedCount += channel.forwardedCount
            forwardedByteCount += channel.forwardedByteCount
            retransmittedCount += channel.retransmittedCount
            requestedCount += channel.requestedCount
        }
    }

    public init() {}
}
