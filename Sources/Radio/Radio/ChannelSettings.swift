public import TenfourChannelKeys
public import TenfourManagedChannel
public import TenfourSession
internal import TenfourUV

/// The channel of a session, and the settings for joining it.
public struct ChannelSettings: Sendable {
    public var keys: ChannelKeys
    /// Whether we may talk, or only listen.
    public var role: Role
    /// The relays of the channel, in the order in which they are tried. The session joins one of them, and changes over
    /// to another one if that no longer answers. Empty if we are the relay of the channel's members, which needs a talk
    /// link.
    public var relays: [Relay]
    /// Recognises the relays' static key; nil if the relays need not prove themselves.
    public var fingerprint: RelayFingerprint?
    /// Our identity and our files, for a channel that has an owner; nil if we have no identity.
    public var membership: Membership?
    /// The SRTP suite of our own packets.
    public var suite = SRTPSuite.aesCounterMode
    public var clock = ClockTrust.kernel
    /// The name that the other members see; nil if we send no name. It is encrypted for the members.
    public var name: String?

    /// The identity with which the owner of a channel has added us, and the files in which we keep its secret.
    public struct Membership: Sendable {
        public var identity: MemberIdentity
        public var files: MembershipFiles

        public init(_ identity: MemberIdentity, _ files: MembershipFiles) {
            self.identity = identity
            self.files = files
        }
    }

    /// A relay, or a tenfour that is the relay of its own channel.
    public struct Relay: Sendable {
        /// The relay's id, made from the host and port in the link.
        public var id: RelayID
        /// The host to look up again when no relay answers. If it is nil, the addresses in `endpoints` are kept.
        public var host: RelayHost?
        /// The addresses of the relay, which are tried in turn. They may be empty if the address of `host` is not known
        /// yet and there are other relays.
        public var endpoints: [Endpoint]

        public init(id: RelayID, host: RelayHost? = nil, endpoints: [Endpoint]) {
            precondition(host != nil || !endpoints.isEmpty, "a relay is somewhere")
            self.id = id
            self.host = host
            self.endpoints = endpoints
        }
    }

    public init(keys: ChannelKeys, role: Role, relays: [Relay]) {
        self.keys = keys
        self.role = role
        self.relays = relays
    }
}

/// Whether this machine's wall clock is trusted. The clock serves to distinguish live media from recorded media.
public enum ClockTrust: String, CaseIterable, Sendable {
    /// Trusted if the kernel reports its clock as synchronised.
    case kernel
    /// Always trusted: the host of a virtual machine may keep the clock right without the kernel's knowledge.
    case right
    /// Never trusted: the relay's clock is used instead.
    case unknown

    var isSynchronised: Bool {
        switch self {
        case .kernel: RealTimeClock.isSet
        case .right: true
        case .unknown: false
        }
    }
}
