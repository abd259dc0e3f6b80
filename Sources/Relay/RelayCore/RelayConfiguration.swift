public import TenfourChannelKeys

/// Which channels a relay carries, under which names it is called, and how much it takes.
public struct RelayConfiguration: Sendable, Equatable {
    public var channels: [Channel]
    /// What members' links may call the relay; empty accepts any name.
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

        /// Whether whoever may join one of them may join the other, and in no other role.
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

/// What a relay takes before it says no.
public struct RelayLimits: Sendable, Equatable {
    /// Of one talker: datagrams of media and announcements a second. Frames of 2.5 ms come to 400.
    public var talkerPacketsPerSecond = 500
    /// Of one talker: bits of those datagrams a second. Music at 128 kbit/s, padded, comes to 200 000.
    public var talkerBitsPerSecond = 1_000_000
    /// Members of one channel, talkers and listeners together.
    public var channelMembers = 1_024
    /// Talkers of one channel whose SSRCs are registered. A new one takes the place of the one that was silent longest, if
    /// that is 5 s or more.
    public var channelTalkers = 32
    /// Talkers of one channel that are heard at the same time.
    public var channelVoices = 8
    /// Of one channel: bits of media and announcements a second that are forwarded, each counted once.
    public var channelBitsPerSecond = 4_000_000
    /// Members of all channels.
    public var members = 10_000

    public init() {}

    /// As they are for a channel that has some of its own.
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

/// What one channel has in the place of what all have; nil where it has nothing of its own.
public struct ChannelLimits: Sendable, Equatable {
    /// Talkers and listeners together.
    public var members: Int?
    /// Registered SSRCs.
    public var talkers: Int?
    /// Talkers that are heard at the same time.
    public var voices: Int?
    /// Bits a second of all talkers together.
    public var bitsPerSecond: Int?
    public var talkerPacketsPerSecond: Int?
    public var talkerBitsPerSecond: Int?

    public init(members: Int? = nil, talkerPacketsPerSecond: Int? = nil, talkerBitsPerSecond: Int? = nil) {
        self.members = members
        self.talkerPacketsPerSecond = talkerPacketsPerSecond
        self.talkerBitsPerSecond = talkerBitsPerSecond
    }
}
