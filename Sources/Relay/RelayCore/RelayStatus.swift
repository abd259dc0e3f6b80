/// What a relay does, in numbers for people. Holds no address and no secret.
public struct RelayStatus: Sendable, Equatable {
    public var channels: [Channel] = []
    /// Datagrams that went no further, since the beginning.
    public var discards = RelayDiscardCounts()

    /// One channel. The counts of packets are since it was configured.
    public struct Channel: Sendable, Equatable {
        public var name: String
        /// As events name it.
        public var number = 0
        /// Who is in it, in either role.
        public var memberCount = 0
        /// Those who joined to listen only.
        public var listenerCount = 0
        /// Those whose voice came within the last ten seconds.
        public var talkerCount = 0
        /// Datagrams passed on to all, each counted once.
        public var forwardedCount = 0
        /// Packets sent again to one listener who missed them.
        public var retransmittedCount = 0
        /// Packets asked of talkers because they had not come here.
        public var requestedCount = 0

        public init(name: String) { self.name = name }
    }

    public init() {}
}
