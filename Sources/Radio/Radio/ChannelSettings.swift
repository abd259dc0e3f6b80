public import TenfourChannelKeys
public import TenfourSession
internal import TenfourUV

/// Which channel a session is in, and by whom.
public struct ChannelSettings: Sendable {
    public var keys: ChannelKeys
    /// Whether we may talk, or listen only.
    public var role: Role
    /// Whom we join; nil where we answer the channel's members ourselves, for which it takes a talk link.
    public var relay: Relay?
    /// Of our own packets.
    public var suite = SRTPSuite.aesCounterMode
    public var clock = ClockTrust.kernel
    /// What the other members see as our name; nil keeps it back. It travels sealed for them.
    public var name: String?

    /// A relay, or a station that answers.
    public struct Relay: Sendable {
        /// As the link names it.
        public var id: RelayID
        /// Asked for again when the relay does not answer any more, if it is there.
        public var host: String?
        /// Where it may be, one or more: they are tried in turn.
        public var endpoints: [Endpoint]

        public init(id: RelayID, host: String? = nil, endpoints: [Endpoint]) {
            precondition(!endpoints.isEmpty, "a relay is somewhere")
            self.id = id
            self.host = host
            self.endpoints = endpoints
        }
    }

    public init(keys: ChannelKeys, role: Role, relay: Relay?) {
        self.keys = keys
        self.role = role
        self.relay = relay
    }
}

/// Whether this machine's wall clock is believed. It tells recorded media from live media.
public enum ClockTrust: String, CaseIterable, Sendable {
    /// Where the kernel calls it synchronised.
    case kernel
    /// Always: the host of a virtual machine may keep the clock without the kernel's knowledge.
    case right
    /// Never: the relay's is taken instead.
    case unknown

    var isSynchronised: Bool {
        switch self {
        case .kernel: RealTimeClock.isSet
        case .right: true
        case .unknown: false
        }
    }
}
