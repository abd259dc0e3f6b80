public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourManagedChannel
internal import TenfourPacing
internal import TenfourPackets
internal import TenfourPairing
public import TenfourSession

/// A relay for any number of channels: admits members, keeps their sessions, and decides for each datagram to which
/// channel it is forwarded.
///
/// Opens no socket, reads no clock, and cannot decrypt the media that it forwards. After each input, call
/// `nextDatagram`, then `nextEvent`, and then `nextSnapshot` if a channel has an owner, each until it returns nil; then
/// sleep until `nextDeadline`. The protocol is described in Protocol/06-control.md.
public struct Relay: ~Copyable, Sendable {
    /// The limits of all channels together, and of each channel without its own limits.
    var limits: RelayLimits
    /// The names by which members' links may address the relay. If there are none, any name is accepted.
    var names: [RelayID]
    /// By this key members recognise the relay; nil if the relay cannot prove itself.
    var staticKey: RelayKey?
    private var clock: RelayClock
    var generator: CSPRNG

    var directory = ChannelDirectory()
    var channels: ChannelTable
    var sessions: SessionTable
    /// The number of listeners that have sent their first record, in all channels together.
    var listenerCount = 0
    var talkers = TalkerRegistry()
    var ssrcs = SSRCRegistry()
    /// The talkers of the other relays of the cluster; empty for a relay on its own.
    var remotes = RemoteTalkers()
    var clusterRequests = ClusterRequests()
    var paths = PathValidator()
    /// The members' information about themselves (their names), encrypted for the other members.
    var infos = InfoTable()
    var rosters = ChannelDeadlines()
    var rosterPages = CellRateLimit()
    var floors = ChannelDeadlines()
    var hearings = ChannelDeadlines()
    /// The channels with an owner.
    var managed: ManagedChannels
    /// The channels of stations that have paired through the relay; nil if it pairs none.
    var pairs: PairedChannels?
    /// The sender SSRCs of the relay's reports to talkers: `line` for reports on reception at the relay, `listeners`
    /// for reports on reception at the listeners.
    let reporters: (line: SSRC, listeners: SSRC)

    var joins: JoinVerifier
    /// The stations that pair through the relay; nil if it does not offer this.
    var rendezvous: RendezvousPoint?
    var nacks: NACKLimits
    /// The reason for refusing every JOIN after `stop`; nil while members may join.
    var ending: Refusal.Reason?

    private var discards = RelayDiscardCounts()
    var refusalNotices = RefusalNotices()
    private var events = RelayEventQueue()
    var outbox = DatagramQueue()
    /// Retransmissions. They are sent after all other datagrams, and dropped when they are older than
    /// `PacketRing.memory`.
    var retransmissions = DatagramQueue(limit: 256)
    /// The time of the latest input.
    private(set) var latest: Instant
    /// The buffer that holds the record decrypted last.
    var opened: [UInt8]

    /// The duration of a member's lease, in seconds. A session ends if its lease is not renewed within this time.
    static let lease: UInt16 = 30
    /// A new session ends if its first record has not arrived within this time after WELCOME.
    static let patience = Duration.seconds(3)
    static let recordPrice = CellRateLimit.Price(perSecond: 50, most: 100)

    /// `address` is the address at which members reach the relay; cookies are bound to it. `clock` is the wall-clock
    /// time at `now`. `stores` are the files of channels with an owner, by the channels' names. `generator` must be a
    /// CSPRNG outside tests.
    public init(
        _ configuration: RelayConfiguration, stores: [String: ManagedChannelStore] = [:], address: PeerAddress,
        at now: Instant, clock: WallClock, using generator: inout some RandomNumberGenerator
    ) {
        limits = configuration.limits
        names = configuration.names
        staticKey = configuration.key
        latest = now
        self.clock = RelayClock(clock, at: now)
        self.generator = CSPRNG(using: &generator)
        joins = JoinVerifier(address: address, using: &self.generator)
        sessions = SessionTable(using: &self.generator)
        reporters = (
            SSRC(UInt32(truncatingIfNeeded: self.generator.next())),
            SSRC(UInt32(truncatingIfNeeded: self.generator.next()))
        )
        nacks = NACKLimits(using: &self.generator)
        opened = [UInt8](repeating: 0, count: ControlPacket.maximumByteCount)
        channels = ChannelTable(configuration, stores: stores)
        managed = ManagedChannels(channels)
        pairs = PairedChannels(configuration, using: &self.generator)
        rendezvous = pairs.map { RendezvousPoint($0.passes, using: &self.generator) }
        directory.open(channels)
    }

    /// The result of receiving a datagram.
    public enum Reception: Hashable, Sendable {
        /// The first `byteCount` bytes are to be forwarded unchanged to all members of the channel except the talker,
        /// with a trailer behind them for each member that has a `trailerKey`.
        case forward(Forwarded, byteCount: Int, channel: ChannelIndex, talker: MemberID)
        /// The datagram was for the relay itself, or a repeated packet; nothing is forwarded.
        case handled
        case discarded(RelayDiscard)
    }

    /// The content of a forwarded datagram.
    public enum Forwarded: Hashable, Sendable {
        /// An SRTP packet.
        case media
        /// The announcement of a key epoch by its talker.
        case announcement(Epoch)
    }

    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        latest = now
        let reception = read(datagram, from: sender, at: now)
        count(reception)
        return reception
    }

    private mutating func read(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard datagram.count > 0 else { return .discarded(.unknownProtocol) }
        switch datagram[0] {
        case 128...191: return media(datagram, from: sender, at: now)
        case ControlPacket.firstByte: break
        case PairingMessage.firstByte:
            return pairing(datagram, from: sender, at: now)
        default: return .discarded(.unknownProtocol)
        }
        do {
            switch try ControlPacket(parsing: datagram) {
            case .hello(let nonce): return hello(nonce, from: sender, at: now)
            case .hello2(let nonce, let channelID):
                return hello2(nonce, channelID, from: sender, at: now)
            case .join(let join): return self.join(join, from: sender, at: now)
            case .record(let session): return record(datagram, of: session, from: sender, at: now)
            case .taggedAnnouncement(let announcement):
                return self.announcement(
                    of: announcement.content, isSigned: false, datagram, from: sender, at: now)
            case .taggedSignedAnnouncement(let epoch):
                return announcement(of: epoch, isSigned: true, datagram, from: sender, at: now)
            case .cookie, .welcome, .cookie2, .welcome2, .refusal, .unknownSession, .announcement,
                .signedAnnouncement:
                return .discarded(.unexpectedControl)
            }
        } catch {
            return .discarded(.malformedControl)
        }
    }

    public mutating func timeElapsed(at now: Instant) {
        latest = now
        let isBehind = outbox.count > Self.maximumWaitingCount
        while let member = sessions.nextToExpire, sessions[member].deadline <= now { end(member, at: now) }
        pollTalkers(at: now)
        pollRemoteTalkers(at: now)
        sendRosters(at: now)
        pollFloors(at: now)
        pollHearings(isBehind: isBehind, at: now)
        pollManagedChannels(at: now)
        rendezvous?.timeElapsed(at: now)
        sendRefusals(at: now)
        proveWaiting(at: now)
    }

    /// Sets the CPU time that this machine needs to check and refuse a JOIN with a wrong proof. The relay spends at
    /// most a tenth of its time on such JOINs.
    public mutating func failedProofs(take time: Duration) { joins.setProofTime(time) }

    mutating func count(_ reception: Reception) {
        if case .discarded(let reason) = reception { count(reason) }
    }

    mutating func count(_ reason: RelayDiscard) { discards.count(reason) }

    /// The time at which `timeElapsed` must be called, if no datagram arrives before that; nil if no work is pending.
    public var nextDeadline: Instant? {
        var next = sessions.nextToExpire.map { sessions[$0].deadline }
        // Compares the deadlines one by one, because an array would be allocated for each datagram.
        next = earlier(next, talkers.deadline)
        next = earlier(next, remotes.deadline)
        next = earlier(next, rosters.next)
        next = earlier(next, joins.deadline)
        next = earlier(next, rendezvous?.deadline)
        next = earlier(next, floors.next)
        next = earlier(next, hearings.next)
        next = earlier(next, managed.deadline)
        next = earlier(next, refusalNotices.deadline)
        return next
    }

    /// Appends the next outgoing datagram to `buffer` and returns its destination; nil if there is none. Needs room for
    /// 1269 bytes, or for the longest datagram that was forwarded if that is more.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        if let endpoint = outbox.next(into: &buffer) { return endpoint }
        retransmissions.forget(before: latest - PacketRing.memory)
        return retransmissions.next(into: &buffer)
    }

    /// The maximum number of datagrams that are queued while the network accepts none. Only GOODBYE is queued beyond
    /// this limit.
    static let mostWaiting = 65_536

    var hasRoomForMembers: Bool { outbox.count < Self.mostWaiting }

    /// The memory that the queues of outgoing datagrams use, in bytes.
    package var waitingByteCount: Int { outbox.capacity + retransmissions.capacity }

    public mutating func nextEvent() -> RelayEvent? {
        let event = events.next()
        if case .ended(let channel) = event { channels.release(channel, at: latest) }
        return event
    }

    /// The key of the trailers with which forwarded datagrams to a member end (Protocol/13-members.md); nil if they
    /// have none, or if the member has left. Ask for it at the event `joined`.
    public func trailerKey(of member: MemberID) -> TrailerKey? { sessions.trailerKey(of: member) }

    mutating func post(_ event: RelayEvent) { events.post(event) }

    func wallClock(at now: Instant) -> WallClock { clock.reading(at: now) }

    /// Sets the wall-clock time at `now`. The relay extrapolates later times; call this again when the system clock may
    /// have been set.
    public mutating func setClock(_ clock: WallClock, at now: Instant) { self.clock = RelayClock(clock, at: now) }

    public var status: RelayStatus {
        var status = RelayStatus()
        status.discards = discards
        status.channels = channels.status
        status.paired = pairs?.status(of: channels)
        return status
    }
}

private func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
