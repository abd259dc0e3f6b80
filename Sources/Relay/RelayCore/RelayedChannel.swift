internal import TenfourFloor
internal import TenfourManagedChannel
internal import TenfourPacing
internal import TenfourSession

/// The state of one channel.
struct RelayedChannel: Sendable {
    private(set) var configuration: RelayConfiguration.Channel
    private(set) var limits: RelayLimits
    /// The id of the pass with which stations that have paired join the channel; nil for a configured channel.
    let pass: UInt128?
    var status: RelayStatus.Channel
    /// Members that have registered an SSRC, oldest registration first.
    var claimants: [MemberID] = []
    /// The talkers that are forwarded at the same time.
    var slots = TalkerSlots()
    /// Limits the bits that are forwarded per second.
    var bits = CellRateLimit()
    /// The number of members in each network.
    var networks = NetworkShares()
    /// Limits how often a BYE of a talker is sent to all members.
    var goodbyes = CellRateLimit()
    /// The roster that members receive.
    var roster = ChannelRoster()
    /// The number of listeners that the roster counts in addition to the members.
    var otherListenerCount = 0
    /// The channel's members at the other relays of the cluster.
    var remoteMembers = RemoteMembers()
    /// Who may talk; nil while nobody has asked, unless the channel requires the floor, and in a channel without floor
    /// control.
    var floor: ChannelFloor?
    /// The messages about the floor that members are to be sent.
    var floorRecords = FloorRecordQueue()
    /// The members that have asked who has the floor while nobody has requested it, and whether they may talk.
    var floorAskers: [UInt32: Bool] = [:]
    /// The channel in the relay's cluster; nil for a relay on its own.
    var floorCluster: FloorCluster?
    /// The members that are asked how they receive the talkers.
    var hearing = ChannelHearing()
    /// The state of a channel with an owner.
    var managed: ManagedChannel?

    /// `stores` are the files of channels with an owner, by the channels' names.
    init(
        _ configuration: RelayConfiguration.Channel, within limits: RelayLimits, pass: UInt128? = nil,
        stores: [String: ManagedChannelStore] = [:]
    ) {
        self.pass = pass
        self.configuration = configuration
        self.limits = limits.limited(by: configuration.limits)
        status = RelayStatus.Channel(name: configuration.name)
        if let terms = configuration.floor, terms.isRequired { floor = ChannelFloor(terms) }
        managed = ManagedChannel(configuration, stores[configuration.name])
    }

    /// Sets new limits of the channel; its members stay.
    mutating func change(to own: ChannelLimits, within limits: RelayLimits) {
        configuration.limits = own
        self.limits = limits.limited(by: own)
    }

    /// Sets a new configuration of the channel; its members stay.
    mutating func change(to configuration: RelayConfiguration.Channel, within limits: RelayLimits) {
        self.configuration = configuration
        self.limits = limits.limited(by: configuration.limits)
        floorChanged()
    }
}
