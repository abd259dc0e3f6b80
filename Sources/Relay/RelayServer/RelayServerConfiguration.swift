internal import TenfourManagedChannel
public import TenfourRelayCore
public import TenfourSession

/// The configuration of a running relay, at its start and at each reload.
public struct RelayServerConfiguration: Sendable, Equatable {
    /// The address at which members join, and from which all packets are sent.
    public var bind: Endpoint
    /// The encrypted channels, which members join.
    public var relay: RelayConfiguration
    /// The unencrypted channels, which nobody joins. No unencrypted channel has the name of an encrypted channel.
    public var plain: [PlainChannel]
    /// The number of sending threads, 1…64; each serves a part of every channel's members.
    public var workers: Int
    public var web = WebConfiguration()
    /// The cluster that the relay belongs to; nil for a relay on its own. A change takes effect after a restart.
    public var cluster: ClusterConfiguration?
    /// The folder for the files of channels that have an owner; nil if there are none. A change takes effect after a restart.
    public var stateFolder: String?

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

extension RelayServerConfiguration {
    /// The settings whose changes take effect only after a restart.
    struct Fixed: Sendable, Equatable {
        var bind: Endpoint
        var workers: Int
        var cluster: ClusterConfiguration?
        var stateFolder: String?
    }

    var fixed: Fixed { Fixed(bind: bind, workers: workers, cluster: cluster, stateFolder: stateFolder) }
}

/// A configuration with what the files of its channels hold.
struct LoadedConfiguration: Sendable {
    var configuration: RelayServerConfiguration
    /// The files of channels that have an owner, by the channels' names.
    var stores: [String: ManagedChannelStore]
    /// Tells of files that are taken for none.
    var notices: [RelayNotice]

    /// Reads the files of `folder`. Blocks on the disk.
    init(_ configuration: RelayServerConfiguration, from folder: ManagedChannelFolder?) {
        precondition(
            folder != nil || !configuration.relay.channels.contains { $0.owner != nil },
            "what members of a channel with an owner have deposited needs a folder")
        self.configuration = configuration
        (stores, notices) = folder?.stores(for: configuration.relay) ?? ([:], [])
    }
}

/// A channel that forwards standard RTP unchanged, from and to addresses that the operator configured.
public struct PlainChannel: Sendable, Equatable {
    public var name: String
    public var inputs: [Input]
    /// The addresses to which packets are sent; multicast groups are possible.
    public var targets: [Endpoint]
    /// The multicast groups among `targets` that are announced by the Session Announcement Protocol.
    public var announcedGroups: [Endpoint] = []
    public var limits: Limits
    /// The loopback address at which this process itself listens to the channel, for listeners over HTTP; nil if it does
    /// not. It is no target of the operator's.
    public var gateway: Endpoint?

    /// An address and port that receive RTP.
    public struct Input: Sendable, Hashable {
        /// The local address and port; if it is a multicast group, the relay joins it.
        public var bind: Endpoint
        /// The only host from which packets are accepted; nil if packets of any host are accepted.
        public var from: IPAddress?

        public init(bind: Endpoint, from: IPAddress? = nil) {
            self.bind = bind
            self.from = from
        }
    }

    /// The rate limits of one input. Packets beyond these limits are dropped.
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
