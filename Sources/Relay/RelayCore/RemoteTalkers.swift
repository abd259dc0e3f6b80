internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// A talker of another relay of the cluster.
struct RemoteTalker: Sendable {
    let ssrc: SSRC
    let channel: ChannelIndex
    /// The relay of the talker, its epoch and the time of its claim.
    var rank: ClaimRank
    /// The talker's last announcement, as it is forwarded; empty if there is none.
    var announcement: [UInt8]
    var announcedAt: Instant
    var name: String?
    /// The talker's current stream; nil while it is silent.
    var stream: TalkerStream?
    /// The packet counts of the talker's last ended stream; nil if there is none.
    var counts: TalkerCounts?
    /// The time at which the claim is released, because the talker's relay is gone; nil while it is present.
    var heldUntil: Instant?

    /// The time for which the claims of a relay that is gone are held, so that its talkers can come to another relay.
    static let grace = Duration.seconds(5)

    init(_ claim: ChannelState.Claim, _ rank: ClaimRank, in channel: ChannelIndex, at now: Instant) {
        ssrc = claim.ssrc
        self.channel = channel
        self.rank = rank
        announcement = claim.announcement
        announcedAt = now - .milliseconds(Int(claim.announcementAge))
        name = claim.name.isEmpty ? nil : claim.name
    }
}

/// The talkers of all other relays of a cluster. Each has an index that is not changed until it is removed.
struct RemoteTalkers: Sendable {
    private var talkers: [RemoteTalker?] = []
    private var free: [Int] = []
    private var places: [Key: Int] = [:]
    /// The earliest time at which `Relay.pollRemoteTalkers` may have work; nil if it has none.
    private(set) var deadline: Instant?

    private struct Key: Hashable {
        var channel: ChannelIndex
        var ssrc: SSRC
    }

    subscript(index: Int) -> RemoteTalker? { talkers[index] }

    func index(of ssrc: SSRC, in channel: ChannelIndex) -> Int? { places[Key(channel: channel, ssrc: ssrc)] }

    subscript(ssrc: SSRC, in channel: ChannelIndex) -> RemoteTalker? {
        index(of: ssrc, in: channel).flatMap { talkers[$0] }
    }

    var indices: [Int] { talkers.indices.filter { talkers[$0] != nil } }

    func indices(in channel: ChannelIndex) -> [Int] { talkers.indices.filter { talkers[$0]?.channel == channel } }

    func indices(in channel: ChannelIndex, of relay: BootID) -> [Int] {
        indices(in: channel).filter { talkers[$0]?.rank.relay == relay }
    }

    /// The SSRCs and names of the talkers in a channel that are talking.
    func talking(in channel: ChannelIndex) -> [(ssrc: SSRC, name: String?)] {
        places.isEmpty
            ? []
            : indices(in: channel).compactMap { talkers[$0] }.filter { $0.stream != nil }.map { ($0.ssrc, $0.name) }
    }

    mutating func insert(_ talker: RemoteTalker) {
        let index = free.popLast() ?? talkers.count
        if index == talkers.count { talkers.append(talker) } else { talkers[index] = talker }
        places[Key(channel: talker.channel, ssrc: talker.ssrc)] = index
    }

    /// Updates a talker by what its relay, or a relay to which it has moved, says. Its stream goes on.
    mutating func update(_ index: Int, by talker: RemoteTalker) {
        talkers[index]?.rank = talker.rank
        talkers[index]?.name = talker.name
        talkers[index]?.announcement = talker.announcement
        talkers[index]?.announcedAt = talker.announcedAt
        talkers[index]?.heldUntil = nil
    }

    mutating func announced(_ datagram: Span<UInt8>, of epoch: Epoch, _ index: Int, at now: Instant) {
        talkers[index]?.rank.epoch = epoch
        talkers[index]?.announcement = [UInt8](capacity: datagram.count) {
            for byte in datagram.indices { $0.append(datagram[byte]) }
        }
        talkers[index]?.announcedAt = now
    }

    mutating func remove(_ index: Int) {
        guard let talker = talkers[index] else { return }
        places[Key(channel: talker.channel, ssrc: talker.ssrc)] = nil
        talkers[index] = nil
        free.append(index)
    }

    mutating func begin(_ stream: TalkerStream, of index: Int, at now: Instant) {
        talkers[index]?.stream = stream
        expect(stream.nextDeadline)
    }

    mutating func packetArrived(_ datagram: Span<UInt8>, of ssrc: SSRC, _ index: Int, at now: Instant)
        -> TalkerStream.Arrival?
    {
        talkers[index]?.stream?.packetArrived(datagram, of: ssrc, at: now)
    }

    mutating func endStream(of index: Int) {
        guard let stream = talkers[index]?.stream else { return }
        talkers[index]?.counts = stream.counts
        talkers[index]?.stream = nil
    }

    /// Keeps a member's report about a talker.
    mutating func report(_ view: ListenerView, of member: MemberID, about ssrc: SSRC, in channel: ChannelIndex) {
        guard let index = index(of: ssrc, in: channel) else { return }
        talkers[index]?.stream?.views[member] = view
    }

    mutating func forgetViews(of member: MemberID) {
        for index in talkers.indices where talkers[index] != nil { talkers[index]?.stream?.views[member] = nil }
    }

    mutating func hold(talkersOf relay: BootID, until end: Instant) {
        for index in talkers.indices where talkers[index]?.rank.relay == relay {
            talkers[index]?.heldUntil = end
            expect(end)
        }
    }

    /// Returns the packets of a talker to ask for now.
    mutating func nextRequests(of index: Int, at now: Instant) -> [SequenceNumber] {
        talkers[index]?.stream?.missing.nextRequests(at: now) ?? []
    }

    mutating func reported(_ index: Int, at now: Instant) { talkers[index]?.stream?.nextReport = now + .seconds(1) }

    mutating func expect(_ moment: Instant) { deadline = deadline.map { min($0, moment) } ?? moment }

    /// Recomputes `deadline`; `others` is the earliest deadline of the rosters.
    mutating func updateDeadline(_ others: Instant?) {
        deadline = others
        for case .some(let talker) in talkers {
            if let next = talker.stream?.nextDeadline { expect(next) }
            if let next = talker.heldUntil { expect(next) }
        }
    }
}
