internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// The channels of stations that have paired through the relay. The relay keeps nothing of such a channel while nobody
/// is in it: its join keys follow from the channel id of a JOIN and the relay's static key
/// (Protocol/05-channel-keys.md, The pass).
struct PairedChannels: Sendable {
    /// Makes the passes that admit to these channels.
    let passes: PassMaker
    private let relayKey: RelayKey
    private(set) var configuration: PairingConfiguration
    /// The maximum number of members of all these channels together.
    private var memberLimit: Int
    /// The channels that have a session, by the ids of their passes.
    private var open: [UInt128: ChannelIndex] = [:]
    /// The places of the members that have joined.
    private var places = SharedPlaces<MemberID>()
    private var hostJoins: AddressLimits
    private var networkJoins: AddressLimits
    private var joins = CellRateLimit()
    /// The counters of the channels that have ended.
    private var ended = RelayStatus.Paired()

    /// The maximum number of members of one channel: two stations, and their former sessions until the lease has
    /// passed.
    static let channelMembers = 4
    static let channelVoices = 2

    /// The rate limit of JOINs with a valid proof per host. It is low because everybody can get a pass. A member's
    /// attempts are 1, 2 and then 4 s apart.
    private static let hostJoinPrice = CellRateLimit.Price(perSecond: 0.5, most: 10)
    /// The rate of JOINs with a valid proof that hosts of one network always have, even if the limit of all hosts
    /// together is used up.
    private static let networkJoinPrice = CellRateLimit.Price(perSecond: 1, most: 10)
    /// The rate limit of JOINs with a valid proof of all hosts together, beyond those rates. Such a JOIN takes about
    /// 100 µs, so this is a tenth of the processing time. These JOINs do not count against the limit of other channels'
    /// JOINs.
    private static let joinPrice = CellRateLimit.Price(perSecond: 1_000, most: 2_000)

    /// Returns nil if the relay pairs no stations, or has no static key.
    init?(_ configuration: RelayConfiguration, using generator: inout CSPRNG) {
        guard let pairing = configuration.pairing, let key = configuration.key else { return nil }
        self.configuration = pairing
        memberLimit = configuration.pairedMemberLimit ?? 0
        relayKey = key
        passes = PassMaker(key)
        hostJoins = AddressLimits(Self.hostJoinPrice, rowCount: RendezvousLimits.rowCount, seed: generator.next())
        networkJoins = AddressLimits(
            Self.networkJoinPrice, of: .network, rowCount: RendezvousLimits.rowCount, seed: generator.next())
    }

    /// Takes over the limits of a new configuration. Returns false if the passes are other ones in it, or if there are
    /// none any more; the channels must then end.
    mutating func change(to configuration: RelayConfiguration) -> Bool {
        guard let pairing = configuration.pairing, configuration.key == relayKey else { return false }
        self.configuration = pairing
        memberLimit = configuration.pairedMemberLimit ?? 0
        return true
    }

    /// Returns the key with which a JOIN must have been made, if its channel id is that of a pass.
    func joinKey(of join: Join) -> JoinKey { passes.pass(join.channelID).joinKey(for: join.role) }

    /// Counts a member that joins with a pass. Returns false if the rate of its host is exceeded, or both the rate of
    /// its network and that of all hosts.
    mutating func allowsJoin(at address: IPAddress, _ now: Instant) -> Bool {
        guard hostJoins.spend(address, at: now) else { return false }
        return networkJoins.spend(address, at: now) || joins.spend(Self.joinPrice, at: now)
    }

    // MARK: Channels

    subscript(id: UInt128) -> ChannelIndex? { open[id] }

    mutating func opened(_ id: UInt128, at channel: ChannelIndex) { open[id] = channel }

    mutating func closed(_ id: UInt128, _ counts: RelayStatus.Channel) {
        open[id] = nil
        ended.add(counts)
    }

    /// Returns the configuration of the channel with this id.
    func channel(_ id: UInt128) -> RelayConfiguration.Channel {
        let pass = passes.pass(id)
        return RelayConfiguration.Channel(
            name: "", talkJoin: pass.joinKey(for: .talk), listenJoin: pass.joinKey(for: .listen), limits: channelLimits)
    }

    /// The limits of each channel.
    var channelLimits: ChannelLimits {
        var limits = ChannelLimits(members: Self.channelMembers)
        limits.talkers = Self.channelMembers
        limits.voices = Self.channelVoices
        limits.bitsPerSecond = configuration.bitsPerSecond
        return limits
    }

    // MARK: Members

    var hasRoom: Bool { places.count < memberLimit }

    /// Whether a place is free for a newcomer from `address`, or another member gives way.
    func mayEnter(from address: IPAddress) -> Bool { hasRoom || places.yielding(to: address) != nil }

    /// The member that must leave for a newcomer from `address`; nil if there is none.
    func yielding(to address: IPAddress) -> MemberID? { places.yielding(to: address) }

    /// The member that must leave because the limit was lowered; nil if there is none.
    var surplus: MemberID? { places.count > memberLimit ? places.newestOfLargestHost : nil }

    mutating func joined(_ member: MemberID, at address: IPAddress) { places.add(member, at: address) }

    mutating func left(_ member: MemberID, at address: IPAddress) { places.remove(member, at: address) }

    // MARK: Status

    /// The counters of all channels, with those that have ended.
    func status(of table: ChannelTable) -> RelayStatus.Paired {
        var sum = ended
        for channel in open.values { if let counts = table[channel]?.status { sum.add(counts) } }
        sum.channelCount = open.count
        sum.memberCount = places.count
        return sum
    }
}

extension Relay {
    /// Returns the channel of a pass, and opens it if nobody is in it.
    mutating func pairedChannel(_ id: UInt128) -> ChannelIndex? {
        if let channel = pairs?[id] { return channel }
        guard let configuration = pairs?.channel(id) else { return nil }
        let channel = channels.open(RelayedChannel(configuration, within: limits, pass: id), at: latest)
        pairs?.opened(id, at: channel)
        return channel
    }

    /// Ends the channel of a pass if no session is in it.
    mutating func closeIfUnused(_ index: ChannelIndex) {
        guard let id = channels[index]?.pass, sessions.first(in: index) == nil, let counts = channels[index]?.status
        else { return }
        pairs?.closed(id, counts)
        channels[index] = nil
        if counts.joinedCount > 0 { post(.ended(channel: index)) } else { channels.release(index, at: latest) }
    }

    /// Applies a new configuration to the channels of passes. Their members stay, and the stations that wait keep their
    /// numbers, unless the passes are other ones now. Members above a lowered limit must leave.
    mutating func reloadPairs(_ configuration: RelayConfiguration, at now: Instant) {
        let stays = pairs?.change(to: configuration) ?? false
        for index in channels.indices {
            guard channels[index]?.pass != nil else { continue }
            if stays, let changed = pairs?.channelLimits {
                channels[index]?.change(to: changed, within: limits)
            } else {
                sendGoodbye(.refused, to: index, at: now)
            }
        }
        if !stays {
            pairs = PairedChannels(configuration, using: &generator)
            rendezvous = pairs.map { RendezvousPoint($0.passes, using: &generator) }
        }
        while let member = pairs?.surplus { displace(member, at: now) }
    }
}
