public import TenfourChannelKeys

/// The channels of a relay, the names by which links address it, and its limits.
public struct RelayConfiguration: Sendable, Equatable {
    public var channels: [Channel]
    /// The names by which members' links may address the relay; empty accepts any name.
    public var names: [RelayID]
    public var limits: RelayLimits

    /// One channel that members join by the control protocol.
    public struct Channel: Sendable, Equatable {
        public var name: String
        public var talkJoin: JoinKey
        public var listenJoin: JoinKey
        public var limits: ChannelLimits

        public init(name: String, talkJoin: JoinKey, listenJoin: JoinKey, limits: ChannelLimits = ChannelLimits()) {
            self.name = name
            self.talkJoin = talkJoin
            self.listenJoin = listenJoin
            self.limits = limits
        }

        /// Whether the two channels have the same name and join keys, so that the members of one may stay in the other.
        func hasKeys(of other: Channel) -> Bool {
            name == other.name && talkJoin == other.talkJoin && listenJoin == other.listenJoin
        }
    }

    public init(channels: [Channel] = [], names: [RelayID] = [], limits: RelayLimits = RelayLimits()) {
        self.channels = channels
        self.names = names
        self.limits = limits
    }
}

/// The limits of a relay, and the defaults for its channels' limits.
public struct RelayLimits: Sendable, Equatable {
    /// Datagrams of media and announcements per second from one talker. Frames of 2.5 ms need 400.
    public var talkerPacketsPerSecond = 500
    /// Bits of these datagrams per second from one talker. Music at 128 kbit/s, padded, needs 200 000.
    public var talkerBitsPerSecond = 1_000_000
    /// Members of one channel, talkers and listeners together.
    public var channelMembers = 1_024
    /// Talkers of one channel with a registered SSRC. A new one replaces the one that has been silent longest, if that is at
    /// least 5 s.
    public var channelTalkers = 32
    /// Talkers of one channel that are forwarded at the same time.
    public var channelVoices = 8
    /// Bits of media and announcements per second that are forwarded in one channel, each datagram counted once.
    public var channelBitsPerSecond = 4_000_000
    /// Members of all channels together.
    public var members = 10_000

    public init() {}

    /// Returns the limits of a channel: its own limits `own`, and these where it has none.
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
    /// Talkers and listeners together.
    public var members: Int?
    /// Registered SSRCs.
    public var talkers: Int?
    /// Talkers that are forwarded at the same time.
    public var voices: Int?
    /// Bits per second of all talkers together.
    public var bitsPerSecond: Int?
    public var talkerPacketsPerSecond: Int?
    public var talkerBitsPerSecond: Int?

    public init(members: Int? = nil, talkerPacketsPerSecond: Int? = nil, talkerBitsPerSecond: Int? = nil) {
        self.members = members
        self.talkerPacketsPerSecond = talkerPacketsPerSecond
        self.talkerBitsPerSecond = talkerBitsPerSecond
    }
}
