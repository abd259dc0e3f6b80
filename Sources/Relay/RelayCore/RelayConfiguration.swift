public import TenfourChannelKeys
public import TenfourFloor
public import TenfourManagedChannel

/// The channels of a relay, the names by which links address it, and its limits.
public struct RelayConfiguration: Sendable, Equatable {
    public var channels: [Channel]
    /// The names by which members' links may address the relay. If there are none, any name is accepted.
    public var names: [RelayID]
    public var limits: RelayLimits
    /// The static key by which members recognise the relay; nil if the relay cannot prove itself.
    public var key: RelayKey?
    /// Whether stations may pair through the relay, and the limits of their channels; nil if they may not. The relay
    /// needs a static key for it.
    public var pairing: PairingConfiguration?

    /// One channel that members join by the control protocol.
    public struct Channel: Sendable, Equatable {
        public var name: String
        public var talkJoin: JoinKey
        public var listenJoin: JoinKey
        public var limits: ChannelLimits
        /// Whether members need the floor to talk, and for how long one has it; nil for a channel without floor
        /// control.
        public var floor: FloorArbiter.Configuration?
        /// The key of the owner, who says which members may join (Protocol/13-members.md); nil for a channel that
        /// everyone with a join key may join. The relay needs a static key for a channel with an owner.
        public var owner: IdentityKey?

        public init(name: String, talkJoin: JoinKey, listenJoin: JoinKey, limits: ChannelLimits = ChannelLimits()) {
            self.name = name
            self.talkJoin = talkJoin
            self.listenJoin = listenJoin
            self.limits = limits
        }

        /// Whether the two channels have the same name, join keys and owner. If so, the members of `other` stay when
        /// this configuration replaces it.
        func hasKeys(of other: Channel) -> Bool {
            name == other.name && talkJoin == other.talkJoin && listenJoin == other.listenJoin && owner == other.owner
        }
    }

    /// The maximum number of members of all channels of stations that have paired; nil if stations may not pair. It is
    /// at most half of the relay's places, because anybody can make such channels; the configured ones keep the other
    /// half.
    public var pairedMemberLimit: Int? { pairing.map { min($0.members, limits.members / 2) } }

    public init(channels: [Channel] = [], names: [RelayID] = [], limits: RelayLimits = RelayLimits()) {
        self.channels = channels
        self.names = names
        self.limits = limits
    }
}

/// The limits of the channels of stations that have paired through a relay.
public struct PairingConfiguration: Sendable, Equatable {
    /// The maximum number of members of all these channels together.
    public var members = 2_048
    /// The maximum number of bits per second of media and announcements that are forwarded in one of these channels.
    public var bitsPerSecond = 400_000

    public init() {}
}

/// The limits of a relay, and the defaults for its channels' limits.
public struct RelayLimits: Sendable, Equatable {
    /// The maximum number of media and announcement datagrams per second from one talker; more are dropped. Frames of
    /// 2.5 ms need 400.
    public var talkerPacketsPerSecond = 500
    /// The maximum number of bits per second in the media and announcement datagrams of one talker. Music at 128
    /// kbit/s, padded, needs 200 000.
    public var talkerBitsPerSecond = 1_000_000
    /// The maximum number of members of one channel, talkers and listeners together. Further members are refused,
    /// unless they may displace a listener.
    public var channelMembers = 1_024
    /// The maximum number of talkers of one channel with a registered SSRC. A further talker replaces the talker that
    /// has been silent longest, if its silence has lasted at least 5 s.
    public var channelTalkers = 32
    /// The maximum number of talkers of one channel that are forwarded at the same time. Packets of further talkers are
    /// dropped.
    public var channelVoices = 8
    /// The maximum number of bits per second of media and announcements that are forwarded in one channel; a datagram
    /// counts once, not once for each member.
    public var channelBitsPerSecond = 4_000_000
    /// The maximum number of members of all channels together.
    public var members = 10_000

    public init() {}

    /// Returns the limits of a channel: its own limits `own`, and for each limit that is nil in `own`, the relay's
    /// limit.
    func limited(by own: ChannelLimits) -> RelayLimits {
        var limits = self
        limits.channelMembers = own.members ?? channelMembers
        limits.channelTalkers = own.talkers ?? channelTalkers
        limits.channelVoices = own.voices ?? channelVoices
        limits.channelBitsPerSecond = own.bitsPerSecond ?? channelBitsPerSecond
        limits.talkerPacketsPerSecond = own.talkerPacketsPerSecond ?? talkerPacketsPerSecond
        limits.talkerBitsPerSecond = own.talkerBitsPerSecond ?? talkerBitsPerSecond
        return limits
    }
}

/// One channel's own limits; a nil value means the relay's limit for all channels.
public struct ChannelLimits: Sendable, Equatable {
    /// The maximum number of members, talkers and listeners together.
    public var members: Int?
    /// The maximum number of talkers with a registered SSRC.
    public var talkers: Int?
    /// The maximum number of talkers that are forwarded simultaneously.
    public var voices: Int?
    /// The maximum number of forwarded bits per second of all talkers together.
    public var bitsPerSecond: Int?
    public var talkerPacketsPerSecond: Int?
    public var talkerBitsPerSecond: Int?

    public init(members: Int? = nil, talkerPacketsPerSecond: Int? = nil, talkerBitsPerSecond: Int? = nil) {
        self.members = members
        self.talkerPacketsPerSecond = talkerPacketsPerSecond
        self.talkerBitsPerSecond = talkerBitsPerSecond
    }
}
