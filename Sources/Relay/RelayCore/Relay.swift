public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets
public import TenfourSession

/// A relay of any number of channels: lets members in, keeps them while they stay, and says what goes to whom.
///
/// Opens no socket, reads no clock, and cannot open what it passes on. After each input, take datagrams until nil, then
/// events until nil, then sleep until `nextDeadline`. What a member says is in Protocol/06-control.md.
public struct Relay: ~Copyable, Sendable {
    /// The limits of all channels together, and of each channel that has none of its own.
    var limits: RelayLimits
    /// What members' links may call the relay; empty accepts any name.
    var names: [RelayID]
    let address: PeerAddress
    private var clock: RelayClock
    var generator: CSPRNG

    var directory = ChannelDirectory()
    var channels: ChannelTable
    var sessions: SessionTable
    /// Listeners in all channels whose first record has come.
    var listenerCount = 0
    var talkers = TalkerRegistry()
    var ssrcs = SSRCRegistry()
    var paths = PathValidator()
    /// What members tell about themselves, sealed for each other.
    var infos = InfoTable()
    /// When the members of some channel are to be told of changes in its roster; nil while there are none.
    var rosterDeadline: Instant?
    var rosterPages = CellRateLimit()
    /// The SSRCs of the relay's own reports to talkers: about their line, and about their listeners.
    let reporters: (line: SSRC, listeners: SSRC)

    /// Cookies for HELLOs, and receipts for what was sent to members.
    var cookies: Cookies
    var spentCookies = SpentCookies()
    var refusals = RefusalCache()
    /// The key for JOINs of unknown channels, so that they are as much work as others.
    let dummyKey: JoinKey
    /// The WELCOMEs of members whose first record has not come, to be sent again if JOIN comes again.
    var pendingWelcomes: [MemberID: PendingWelcome] = [:]
    var proofs = ProofScheduler()
    var handshakes: HandshakeLimits
    var nacks: NACKLimits
    /// Why nobody is let in any more; nil while members may join.
    var ending: Refusal.Reason?

    private var discards = RelayDiscardCounts()
    private var events = RelayEventQueue()
    var outbox = DatagramQueue()
    /// Retransmissions. They go out after all else, and only while they are of use.
    var retransmissions = DatagramQueue(limit: 256)
    /// The time of the latest input.
    private var latest: Instant
    /// The record that was opened last.
    var opened: [UInt8]

    /// For how long a member is kept without a record, in seconds.
    static let lease: UInt16 = 30
    /// How long the first record may take.
    static let patience = Duration.seconds(3)
    static let recordPrice = CellRateLimit.Price(perSecond: 50, most: 100)

    /// `address` is ours, as members reach us: cookies are bound to it. `clock` is the time of day at `now`. `generator`
    /// must be one that nobody can foretell: the system's, outside tests.
    public init(
        _ configuration: RelayConfiguration, address: PeerAddress, at now: Instant, clock: WallClock,
        using generator: inout some RandomNumberGenerator
    ) {
        limits = configuration.limits
        names = configuration.names
        self.address = address
        latest = now
        self.clock = RelayClock(clock, at: now)
        self.generator = CSPRNG(using: &generator)
        cookies = Cookies(using: &self.generator)
        dummyKey = JoinKey(dummyUsing: &self.generator)
        sessions = SessionTable(using: &self.generator)
        reporters = (
            SSRC(UInt32(truncatingIfNeeded: self.generator.next())),
            SSRC(UInt32(truncatingIfNeeded: self.generator.next()))
        )
        handshakes = HandshakeLimits(using: &self.generator)
        nacks = NACKLimits(using: &self.generator)
        opened = [UInt8](repeating: 0, count: ControlPacket.maximumByteCount)
        channels = ChannelTable(configuration)
        directory.open(channels)
    }

    /// What became of a datagram.
    public enum Reception: Hashable, Sendable {
        /// Its first bytes go, as they are, to all members of the channel but the talker.
        case forward(Forwarded, byteCount: Int, channel: ChannelIndex, talker: MemberID)
        /// It was for the relay itself.
        case handled
        case discarded(RelayDiscard)
    }

    /// What is forwarded.
    public enum Forwarded: Hashable, Sendable {
        /// SRTP.
        case media
        /// The announcement of an epoch.
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
        default: return .discarded(.unknownProtocol)
        }
        do {
            switch try ControlPacket(parsing: datagram) {
            case .hello(let nonce): return hello(nonce, from: sender, at: now)
            case .join(let join): return self.join(join, from: sender, at: now)
            case .record(let session): return record(datagram, of: session, from: sender, at: now)
            case .taggedAnnouncement(let announcement):
                return self.announcement(announcement, datagram, from: sender, at: now)
            case .cookie, .welcome, .refusal, .unknownSession, .announcement: return .discarded(.unexpectedControl)
            }
        } catch {
            return .discarded(.malformedControl)
        }
    }

    public mutating func timeElapsed(at now: Instant) {
        latest = now
        while let member = sessions.nextToExpire, sessions[member].deadline <= now { end(member, at: now) }
        pollTalkers(at: now)
        sendRosters(at: now)
        proveWaiting(at: now)
    }

    /// How long it takes on this machine to prove a JOIN wrong and to say so: failed proofs take a tenth of the time.
    public mutating func failedProofs(take time: Duration) { proofs.setProofTime(time) }

    mutating func count(_ reception: Reception) {
        if case .discarded(let reason) = reception { discards.count(reason) }
    }

    /// When time has to be told of, if no datagram comes before.
    public var nextDeadline: Instant? {
        var next = sessions.nextToExpire.map { sessions[$0].deadline }
        // An array of them would be allocated for each datagram.
        next = earlier(next, talkers.deadline)
        next = earlier(next, rosterDeadline)
        next = earlier(next, proofs.deadline)
        return next
    }

    /// Appends a datagram, at most 1269 bytes or the longest that was forwarded, and says where it goes.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        if let endpoint = outbox.next(into: &buffer) { return endpoint }
        retransmissions.forget(before: latest - PacketRing.memory)
        return retransmissions.next(into: &buffer)
    }

    /// While nobody takes what is said, so much is kept; good-byes come on top.
    static let mostWaiting = 65_536

    var hasRoomForMembers: Bool { outbox.count < Self.mostWaiting }

    /// How much memory it takes that nobody takes what is said, in bytes.
    package var waitingByteCount: Int { outbox.capacity + retransmissions.capacity }

    public mutating func nextEvent() -> RelayEvent? { events.next() }

    mutating func post(_ event: RelayEvent) { events.post(event) }

    func wallClock(at now: Instant) -> WallClock { clock.reading(at: now) }

    /// Takes the time of day at `now`. The relay counts on from there by itself; call it when the clock may have been set.
    public mutating func setClock(_ clock: WallClock, at now: Instant) { self.clock = RelayClock(clock, at: now) }

    public var status: RelayStatus {
        var status = RelayStatus()
        status.discards = discards
        status.channels = channels.status
        return status
    }
}

/// One channel while it is carried.
struct RelayedChannel: Sendable {
    private(set) var configuration: RelayConfiguration.Channel
    private(set) var limits: RelayLimits
    var status: RelayStatus.Channel
    /// Members that have claimed an SSRC.
    var claimants: [MemberID] = []
    /// The talkers that are heard at the same time.
    var slots = TalkerSlots()
    /// Bits that are forwarded.
    var bits = CellRateLimit()
    /// Where its members are.
    var networks = NetworkShares()
    /// Good-byes of talkers, each told to all.
    var goodbyes = CellRateLimit()
    /// Who is there, as members are told.
    var roster = ChannelRoster()

    init(_ configuration: RelayConfiguration.Channel, within limits: RelayLimits) {
        self.configuration = configuration
        self.limits = limits.limited(by: configuration.limits)
        status = RelayStatus.Channel(name: configuration.name)
    }

    /// The same channel has other limits: whoever is in it stays.
    mutating func change(to configuration: RelayConfiguration.Channel, within limits: RelayLimits) {
        self.configuration = configuration
        self.limits = limits.limited(by: configuration.limits)
    }
}

private func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
