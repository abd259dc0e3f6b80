public import TenfourRelayCore
public import TenfourSession

/// What a relay at work is told at its start, and again whenever its configuration is read anew.
public struct RelayServerConfiguration: Sendable, Equatable {
    /// Where members come, and what all packets are sent from.
    public var bind: Endpoint
    /// The encrypted channels, which members join.
    public var relay: RelayConfiguration
    /// Those in which nobody joins and nothing is encrypted. Their names are none of the others'.
    public var plain: [PlainChannel]
    /// Threads that send, 1…64: each serves its share of every channel's listeners.
    public var workers: Int

    public init(
        bind: Endpoint = Endpoint(.anyV6, port: 5_004), relay: RelayConfiguration = RelayConfiguration(),
        plain: [PlainChannel] = [], workers: Int = 1
    ) {
        self.bind = bind
        self.relay = relay
        self.plain = plain
        self.workers = workers
    }
}

/// Standard RTP from where the operator wrote to where the operator wrote.
public struct PlainChannel: Sendable, Equatable {
    public var name: String
    public var inputs: [Input]
    /// Everybody who gets what comes in: multicast groups too.
    public var targets: [Endpoint]
    public var limits: Limits

    /// A port at which RTP is taken.
    public struct Input: Sendable, Hashable {
        /// A multicast group is joined.
        public var bind: Endpoint
        /// Only from this host; nil takes it from anybody.
        public var from: IPAddress?

        public init(bind: Endpoint, from: IPAddress? = nil) {
            self.bind = bind
            self.from = from
        }
    }

    /// Of one input; what goes beyond is dropped.
    public struct Limits: Sendable, Hashable {
        public var packetsPerSecond = 500
        public var bitsPerSecond = 2_000_000

        public init() {}
    }

    public init(name: String, inputs: [Input] = [], targets: [Endpoint] = [], limits: Limits = Limits()) {
        self.name = name
        self.inputs = inputs
        self.targets = targets
        self.limits = limits
    }
}
