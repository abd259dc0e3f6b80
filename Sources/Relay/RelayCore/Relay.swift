public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourPackets
public import TenfourSession

/// A relay of any number of channels: lets members in, keeps them while they stay, and says what goes to whom.
///
/// Opens no socket, reads no clock, and cannot open what it passes on. After each input, take datagrams until nil, then
/// events until nil, then sleep until `nextDeadline`. What a member says is in Protocol/06-control.md.
public struct Relay: ~Copyable, Sendable {
    /// Of all channels together, and of each that has none of its own.
    var limits: RelayLimits
    var names: [RelayID]
    let address: PeerAddress
    /// When somebody last looked at a clock, and what it said.
    private var beginning: Instant
    private var clock: WallClock
    var generator: CSPRNG
    /// Of the cookies that it gives, and of the receipts for what it has sent to members.
    var cookies: Cookies
    var spentCookies = SpentCookies()
    var refusals = RefusalCache()
    /// For JOINs of unknown channels, so that they are as much work as others.
    let dummyKey: JoinKey
    var directory = ChannelDirectory()
    var channels: [RelayedChannel?] = []
    var sessions: SessionTable
    /// Listeners in all channels whose first record has come.
    var listenerCount = 0
    /// Said to those whose first record has not come.
    var pendingWelcomes: [Int: PendingWelcome] = [:]
    var paths: [Int: Path] = [:]
    /// All who may talk, each in its place; and the places that are free.
    var talkers: [Talker?] = []
    var freeTalkers: [Int] = []
    /// Who has announced an SSRC; two may, in different channels.
    var claims: [SSRC: [Int]] = [:]
    /// Places among `talkers` of those whose voice has come of late.
    var talking: [Int] = []
    /// None of those is to be looked at before; kept, as each packet asks for it.
    var attention: Instant?
    /// What members tell about themselves, sealed for each other.
    var infos = InfoTable()
    /// In no channel anybody is to be told before who is there.
    var rosterAttention: Instant?
    var rosterPages = CellRateLimit()
    /// As whom the relay itself reports to talkers: on their line, and on their listeners'.
    let reporters: (line: SSRC, listeners: SSRC)

    var failures: AddressLimits
    /// JOINs whose proof would take more time than proofs that fail may take.
    var waitingProofs = ProofQueue()
    var failedProofs = CellRateLimit()
    private(set) var failedProofPrice = ProofQueue.price(proofTime: ProofQueue.usualProofTime)
    /// Limits on the missing packets that members ask for: of a host, of a network in any case, and of all.
    var hostNACKs: AddressLimits
    var networkNACKs: AddressLimits
    var allNACKs = CellRateLimit()
    /// HELLOs, and JOINs without a cookie.
    var strangers: AddressLimits
    var unknownSessions: AddressLimits
    /// Proved JOINs.
    var hostJoins: AddressLimits
    var joins = CellRateLimit()
    /// Why nobody is let in any more; nil while somebody may be.
    var ending: Refusal.Reason?
    private var discards = RelayDiscardCounts()
    var outbox = DatagramQueue()
    /// What is sent again, behind all else, and only while somebody waits for it.
    var repairs = DatagramQueue(limit: 256)
    /// When something came last, or time was told of.
    private var latest: Instant
    private var events: [RelayEvent] = []
    private var takenEventCount = 0
    /// What was sealed, opened.
    var opened: [UInt8]

    static let lease: UInt16 = 30
    static let patience = Duration.seconds(3)
    static let failurePrice = CellRateLimit.Price(perSecond: 20, most: 20)
    static let strangerPrice = CellRateLimit.Price(perSecond: 20, most: 2_000)
    /// Five hundred behind one address come back together, and again.
    static let hostJoinPrice = CellRateLimit.Price(perSecond: 200, most: 2_000)
    static let joinPrice = CellRateLimit.Price(perSecond: 5_000, most: 5_000)
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
        beginning = now
        latest = now
        self.clock = clock
        self.generator = CSPRNG(using: &generator)
        cookies = Cookies(using: &self.generator)
        dummyKey = JoinKey(dummyUsing: &self.generator)
        sessions = SessionTable(using: &self.generator)
        reporters = (
            SSRC(UInt32(truncatingIfNeeded: self.generator.next())), SSRC(UInt32(truncatingIfNeeded: self.generator.next()))
        )
        strangers = AddressLimits(Self.strangerPrice, seed: self.generator.next())
        failures = AddressLimits(Self.failurePrice, seed: self.generator.next())
        unknownSessions = AddressLimits(Self.failurePrice, seed: self.generator.next())
        hostJoins = AddressLimits(Self.hostJoinPrice, seed: self.generator.next())
        hostNACKs = AddressLimits(Self.hostNACKPrice, seed: self.generator.next())
        networkNACKs = AddressLimits(Self.networkNACKPrice, of: .network, seed: self.generator.next())
        opened = [UInt8](repeating: 0, count: ControlPacket.maximumByteCount)
        channels = configuration.channels.map { RelayedChannel($0, within: configuration.limits) }
        directory.open(channels)
    }

    /// What became of a datagram.
    public enum Reception: Hashable, Sendable {
        /// Its first bytes go, as they are, to all members of the channel but the one whose they are.
        case forward(byteCount: Int, channel: Int, talker: Int)
        /// It was for the relay itself.
        case handled
        case discarded(RelayDiscard)
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
        attendTalkers(at: now)
        sendRosters(at: now)
        proveWaiting(at: now)
    }

    /// How long it takes on this machine to prove a JOIN wrong and to say so: failed proofs take a tenth of the time.
    public mutating func failedProofs(take time: Duration) { failedProofPrice = ProofQueue.price(proofTime: time) }

    mutating func count(_ reception: Reception) {
        if case .discarded(let reason) = reception { discards.count(reason) }
    }

    /// When time has to be told of, if no datagram comes before.
    public var nextDeadline: Instant? {
        var next = sessions.nextToExpire.map { sessions[$0].deadline }
        if let attention { next = next.map { min($0, attention) } ?? attention }
        if let rosterAttention { next = next.map { min($0, rosterAttention) } ?? rosterAttention }
        if let proof = nextProof { next = next.map { min($0, proof) } ?? proof }
        return next
    }

    /// Appends a datagram, at most 1269 bytes or the longest that was forwarded, and says where it goes.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        if let endpoint = outbox.next(into: &buffer) { return endpoint }
        repairs.forget(before: latest - PacketRing.memory)
        return repairs.next(into: &buffer)
    }

    /// While nobody takes what is said, so much is kept; good-byes come on top.
    static let mostWaiting = 65_536

    var hasRoomForMembers: Bool { outbox.count < Self.mostWaiting }

    /// How much memory it takes that nobody takes what is said, in bytes.
    package var waitingByteCount: Int { outbox.capacity + repairs.capacity }

    public mutating func nextEvent() -> RelayEvent? {
        guard takenEventCount < events.count else { return nil }
        defer {
            takenEventCount += 1
            if takenEventCount == events.count {
                events.removeAll(keepingCapacity: events.count <= Self.keptEventCount)
                takenEventCount = 0
            }
        }
        return events[takenEventCount]
    }

    private static let keptEventCount = 256

    func wallClock(at now: Instant) -> WallClock {
        let passed = max(now.nanoseconds &- beginning.nanoseconds, 0) / 1_000_000
        return WallClock(milliseconds: clock.sinceEpoch &+ UInt64(passed))
    }

    /// What the time of day is at `now`: a clock may be set while a relay runs. It counts on from there by itself.
    public mutating func setClock(_ clock: WallClock, at now: Instant) {
        beginning = now
        self.clock = clock
    }

    mutating func post(_ event: RelayEvent) { events.append(event) }

    public var status: RelayStatus {
        var status = RelayStatus()
        status.discards = discards
        for (number, channel) in channels.enumerated() {
            guard var channel = channel?.status else { continue }
            channel.number = number
            status.channels.append(channel)
        }
        return status
    }
}

/// One channel while it is carried.
struct RelayedChannel: Sendable {
    private(set) var configuration: RelayConfiguration.Channel
    private(set) var limits: RelayLimits
    var status: RelayStatus.Channel
    /// Members that have claimed an SSRC.
    var claimants: [Int] = []
    /// Those who are heard now.
    var voices = TalkerSlots()
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
