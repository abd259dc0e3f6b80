public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourFloor
public import TenfourPackets
public import TenfourSession

/// A member of a channel, between an RTP session and the network (Protocol/05-channel-keys.md, Protocol/06-control.md).
/// It joins, renews its lease, encrypts the packets of the RTP session, and decrypts the packets that arrive. Opens no
/// socket, reads no clock, starts no thread.
///
/// After each input, call `nextOpened`, `nextDatagram` and `nextEvent` in this order, each until it returns nil; then
/// sleep until `nextDeadline`. The RTP session has `sessionEndpoint` as its only remote endpoint, and has no keys.
public struct Channel: ~Copyable, Sendable {
    public private(set) var configuration: ChannelConfiguration
    public internal(set) var discards = ChannelDiscardCounts()
    /// The SSRC of our RTP session. For a talker, it is taken from each RTP packet that the RTP session sends. For a
    /// listener, the caller must set it, because a listener sends no RTP packets.
    public var ssrc: SSRC
    /// CLOCK_BOOTTIME minus CLOCK_MONOTONIC: the time that the machine has slept. Set it before each input.
    public var suspended = Duration.zero

    var generator: CSPRNG
    var joinHandshake = JoinHandshake()
    var standing = MembershipStanding()
    /// Our session with the relay, from WELCOME to its end; nil if there is none.
    var session: ChannelSession?
    var changeover = Changeover()
    var wallClock = ChannelClock()
    var relayClock: RelayClockComparison
    var relayRefusals = RelayRefusals()
    var sendStream = ProtectedSendStream()
    var opener: MediaOpener
    var forgeries = Forgeries()
    /// CLOCK_BOOTTIME at our first WELCOME.
    var firstWelcome: Instant?
    var roster: RosterExchange
    /// Holds what the relay has asked and stated about who hears whom.
    var hearing = HearingExchange()
    /// The owner's hash; nil in an open channel, and before a relay has shown that the channel has an owner.
    var owner: OwnerHash?
    /// Our part in a managed channel; nil in an open one, and before `restore`.
    var managed: ManagedMembership?
    /// Our part of floor control; nil if the configuration does not ask for it.
    public internal(set) var floor: FloorParticipant?
    /// The decrypted packet that `nextOpened` returns next: its kind, and its range in `bytes`; nil if there is none.
    var opened: (kind: Opened, range: Range<Int>)?
    var bytes = [UInt8](repeating: 0, count: HeldPackets.maximumByteCount)
    var lastInput: Instant
    var outbox = DatagramQueue(limit: 64)
    var events = ChannelEvents()
    private(set) var hasLeft = false

    /// Begins to join the channel. `ssrc` is the SSRC of the RTP session, `clock` the time of day at `now`, and
    /// `suspended` the first value of the property `suspended`. `generator` must be unpredictable.
    public init(
        _ configuration: ChannelConfiguration, ssrc: SSRC, at now: Instant, clock: WallClock,
        suspended: Duration = .zero, using generator: inout some RandomNumberGenerator
    ) {
        self.configuration = configuration
        self.ssrc = ssrc
        self.generator = CSPRNG(using: &generator)
        self.suspended = suspended
        roster = RosterExchange(id: self.generator.next(), configuration)
        opener = MediaOpener(using: &generator)
        if configuration.usesFloor { floor = FloorParticipant(ssrc: ssrc) }
        relayClock = RelayClockComparison(clock, isUsed: configuration.isSynchronised, at: now + suspended)
        wallClock.set(clock, isSynchronised: configuration.isSynchronised, at: now + suspended)
        lastInput = now
        joinHandshake.begin(at: now)
        advance(at: now)
    }

    // MARK: - Input

    /// Receives a datagram from `sender`: decrypts it, handles it, holds it until the announcement of its key arrives,
    /// or drops it and counts it in `discards`. Accepts any bytes; only an authenticated datagram can end the session
    /// or change a talker's keys.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        lastInput = now
        let reception = read(datagram, from: sender, at: now)
        record(reception, at: now)
        return reception
    }

    /// Encrypts and sends a packet of the RTP session, RTCP if `isControl`. Counts failures in `discards`.
    public mutating func send(_ datagram: Span<UInt8>, isControl: Bool, at now: Instant) {
        lastInput = now
        if let reason = isControl ? sendReport(datagram) : sendMedia(datagram, at: now) { discards.count(reason) }
    }

    /// Queues the datagrams and posts the events that are due at `now`. Does nothing before `nextDeadline`.
    public mutating func timeElapsed(at now: Instant) {
        lastInput = now
        advance(at: now)
    }

    /// Sets the time of day to the system's `clock`. Call this about once a second, because the system's clock may be
    /// set. If `isSynchronised` is false, the channel ignores `clock`. It extrapolates the last known time of day,
    /// until the relay sends its own time.
    public mutating func setClock(_ clock: WallClock, isSynchronised: Bool = true, at now: Instant) {
        configuration.isSynchronised = isSynchronised
        wallClock.set(clock, isSynchronised: isSynchronised, at: now + suspended)
        if relayClock.set(clock, isUsed: isSynchronised, at: now + suspended) { opener.clockWasSet() }
        compareClocks(at: now)
    }

    /// Sets the relays that may be joined, at least one. If they have changed while we are joining, begins again with
    /// the first one immediately.
    public mutating func setRelays(_ relays: [RelayCandidate], at now: Instant) {
        precondition(!relays.isEmpty, "a relay is somewhere")
        lastInput = now
        guard Set(relays) != Set(configuration.relays) else { return }
        configuration.relays = relays
        session?.keepalive.isWatchful = configuration.canChangeOver
        joinHandshake.relaysChanged(at: now)
        advance(at: now)
    }

    /// Reports to the other members whether our microphone is open. Has no effect for a listener.
    public mutating func microphone(isOpen: Bool, at now: Instant) {
        lastInput = now
        guard configuration.role == .talk else { return }
        roster.setMicrophone(isOpen: isOpen)
        advance(at: now)
    }

    /// Requests the event `listeners` with up to 50 listeners that have sent a member info, from index `position` on.
    public mutating func requestListeners(from position: Int, at now: Instant) {
        lastInput = now
        roster.requestListeners(from: position, at: now)
        advance(at: now)
    }

    /// Leaves the channel and notifies the relay. Afterwards call only `nextDatagram`, until it returns nil.
    public mutating func leave(at now: Instant) {
        changeover.sendLeave(into: &outbox)
        send(.leave)
        session = nil
        roster.leave()
        joinHandshake.end()
        standing.refusalIsOver()
        hasLeft = true
    }

    // MARK: - Output

    /// Appends the next decrypted packet to `packet`, which must have room for `maximumDatagramByteCount`. Returns its
    /// kind; nil if there is none. Pass the packet to the RTP session with `sessionEndpoint` as its sender.
    public mutating func nextOpened(into packet: inout OutputSpan<UInt8>) -> Opened? {
        if opened == nil { openReleased() }
        guard let (kind, range) = opened else { return nil }
        opened = nil
        for index in range { packet.append(bytes[index]) }
        return kind
    }

    /// Appends the next outgoing datagram to `datagram`, which must have room for `maximumDatagramByteCount`. Returns
    /// its destination, or nil if there is none.
    public mutating func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> Endpoint? {
        outbox.next(into: &datagram)
    }

    public mutating func nextEvent() -> ChannelEvent? { events.next() }

    /// The time at which `timeElapsed` must be called; nil while nothing is due.
    public var nextDeadline: Instant? {
        // The compiler (Swift 6.3) takes ten seconds to check a borrow of so large a struct.
        mutating get {
            var next = session?.keepalive.deadline
            let others = [
                standing.deadline, roster.deadline(isIn: isAnswered), changeover.deadline, floor?.nextDeadline,
                isAnswered ? managed?.nextDeadline : nil, isAnswered ? hearing.deadline : nil,
            ]
            for deadline in others + [joinHandshake.deadline] {
                if let deadline { next = min(next ?? deadline, deadline) }
            }
            return next
        }
    }

    // MARK: - State

    /// Whether the relay has let us in and answers.
    public var isJoined: Bool { standing.isJoined }
    /// The address of the relay that has let us in last; nil before the first one has.
    public var relay: Endpoint? { changeover.relay }
    /// The number of packets that wait for their announcement.
    public var heldCount: Int { opener.heldCount }
    /// The other members; nil while we are not joined, and until the relay has sent the whole list.
    public var members: ChannelMembers? { isJoined ? roster.members(as: configuration.role) : nil }

    // MARK: - Time

    /// Returns the wall clock and CLOCK_BOOTTIME at `now`; nil until the time of day is known.
    func reading(at now: Instant) -> ClockReading? {
        wallClock.reading(at: now + suspended, suspended: suspended)
    }

    /// Whether the relay has answered a renewal in this session, and has not stopped answering since.
    var isAnswered: Bool { session.map { $0.keepalive.hasAnswered && !$0.keepalive.isLost } ?? false }

    /// Queues the datagrams and posts the events that are due at `now`. Does nothing after `leave`.
    private mutating func advance(at now: Instant) {
        guard !hasLeft else { return }
        advanceJoining(at: now)
        reportFailedJoin()
        if let due = changeover.deadline, due <= now { changeover.sendLeave(into: &outbox) }
        standing.timeElapsed(as: configuration.role, &events, at: now)
        advanceKeepalive(at: now)
        sendRosterRecords(at: now)
        announceHearing(at: now)
        pollManaged(at: now)
        floor?.timeElapsed(at: now)
        sendFloorMessages()
    }

    mutating func advanceKeepalive(at now: Instant) {
        while let step = session?.keepalive.step(at: now, using: &generator) {
            switch step {
            case .nothing: return
            case .renew(let token): send(.renewal(token: token, receipt: session?.receipt ?? 0))
            case .lost: relayIsLost(at: now)
            case .over: sessionIsOver(at: now)
            }
        }
    }

    mutating func sendRosterRecords(at now: Instant) {
        roster.expire(&events, at: now)
        guard isAnswered, let receipt = session?.receipt else { return }
        let clock = reading(at: now)?.wall
        while let record = roster.nextRecord(ssrc, clock: clock, receipt: receipt, &events, at: now) { send(record) }
    }

    mutating func report(_ standing: MembershipStanding.Standing) {
        self.standing.report(standing, as: configuration.role, &events)
    }

    // MARK: - Sending

    mutating func send(_ record: Record) { session?.send(record, into: &outbox) }

    private mutating func sendReport(_ datagram: Span<UInt8>) -> ChannelDiscard? {
        guard session != nil else { return .beforeJoined }
        return session?.send(report: datagram, into: &outbox)
    }

    /// Encrypts and sends an RTP packet. Returns the reason if it is not sent.
    private mutating func sendMedia(_ datagram: Span<UInt8>, at now: Instant) -> ChannelDiscard? {
        guard configuration.role == .talk else { return .notTalking }
        guard session != nil, let clocks = reading(at: now) else { return .beforeJoined }
        guard let keys = streamKeys else { return .withoutSecret }
        guard datagram.count <= RTPSession.maximumDatagramByteCount, let header = try? RTPHeader(parsing: datagram),
            header.payload.upperBound == datagram.count
        else { return .unsendable }
        if ssrc != header.ssrc {
            ssrc = header.ssrc
            floor?.ssrc = ssrc
        }
        let discard = session?.send(
            header, datagram, of: &sendStream, configuration, keys, at: clocks, now, using: &generator, into: &outbox)
        rejoinIfUsedUp(at: now)
        return discard
    }

    /// Joins again if a counter is used up. The old session is used until WELCOME of the new session arrives.
    private mutating func rejoinIfUsedUp(at now: Instant) {
        guard session?.isUsedUp(configuration) ?? false, !joinHandshake.isActive else { return }
        joinHandshake.begin(at: now)
        advance(at: now)
    }

    // MARK: - Receiving

    private mutating func read(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        let isRelay = session?.endpoint == sender || joinHandshake.isActive && joinHandshake.hasTried(sender)
        guard !hasLeft, isRelay else { return .discarded(.stranger) }
        // A relay that must prove itself, and has not, may only answer our questions. Everybody with a listen link could
        // make announcements and media.
        guard session != nil || configuration.fingerprint == nil || isHandshake(datagram) else {
            return .discarded(.beforeJoined)
        }
        guard datagram.count >= 2, datagram.count <= Self.maximumDatagramByteCount else {
            return .discarded(.malformed)
        }
        switch session?.trailerStart(in: datagram, at: now) {
        case .failure(.forged): return .discarded(.notFromRelay)
        case .failure(.replayed): return .discarded(.replayed)
        case .success(let count): return read(datagram.extracting(..<count), by: sender, at: now)
        case nil: return read(datagram, by: sender, at: now)
        }
    }

    /// Handles a datagram whose trailer has been removed, if it had one.
    private mutating func read(_ datagram: Span<UInt8>, by sender: Endpoint, at now: Instant) -> Reception {
        if (128...191).contains(datagram[0]) {
            rejoinIfUsedUp(at: now)
            return readMedia(datagram, at: now)
        }
        guard let packet = try? ControlPacket(parsing: datagram) else { return .discarded(.malformed) }
        switch packet {
        case .cookie, .welcome, .cookie2, .welcome2, .refusal:
            return readHandshake(datagram, from: sender, at: now)
        case .record(let number): return readRecord(datagram, session: number, at: now)
        case .announcement(let announcement): return readAnnouncement(announcement, at: now)
        case .unknownSession(let number):
            guard session?.number == number else { return .discarded(.unexpected) }
            session?.keepalive.doubt(at: now, using: &generator)
            advance(at: now)
            return .handled
        case .signedAnnouncement: return readSignedAnnouncement(datagram, at: now)
        case .hello, .hello2, .join, .taggedAnnouncement, .taggedSignedAnnouncement: return .discarded(.unexpected)
        }
    }

    private mutating func readMedia(_ datagram: Span<UInt8>, at now: Instant) -> Reception {
        opened = nil
        limitAge(at: now)
        defer { reportRefusal() }
        switch opener.open(datagram, into: &bytes, suspended: suspended, at: now) {
        case .opened(let byteCount):
            opened = (.media, 0..<byteCount)
            packetDecrypted(at: now)
            floor?.heardMedia(at: now)
            return .opened
        case .held(let pushedOut):
            if pushedOut { discards.count(.unopened) }
            return .held
        case .discarded(let reason): return .discarded(reason)
        }
    }

    private mutating func limitAge(at now: Instant) {
        guard configuration.limitsAge else { return }
        opener.freshness = reading(at: now).flatMap { MediaFreshness($0, since: firstWelcome) }
    }

    /// Decrypts the oldest held packet whose announcement has arrived, if there is one.
    mutating func openReleased() {
        limitAge(at: lastInput)
        defer { reportRefusal() }
        let byteCount = opener.openReleased(
            into: &bytes, suspended: suspended, counting: &discards, at: lastInput)
        guard let byteCount else { return }
        opened = (.media, 0..<byteCount)
        packetDecrypted(at: lastInput)
    }

    // MARK: - Records

    private mutating func readRecord(_ datagram: Span<UInt8>, session number: UInt64, at now: Instant) -> Reception {
        guard session?.number == number else { return .discarded(.unexpected) }
        for index in datagram.indices { bytes[index] = datagram[index] }
        opened = nil
        switch session?.receive(&bytes, count: datagram.count, at: now) {
        case .success(let record): return read(record, at: now)
        case .failure(.replayed): return .discarded(.replayed)
        case .failure(.forged): return .discarded(.forged)
        // A record of a later version's type is authentic.
        case .failure(.malformed(.kind)), nil: return .discarded(.unexpected)
        case .failure(.malformed): return .discarded(.malformed)
        }
    }

    private mutating func read(_ record: Record, at now: Instant) -> Reception {
        switch record {
        case .renewed(let token, let receipt, let terms): leaseRenewed(token, receipt, terms, at: now)
        case .pathChallenge(let number): send(.pathAnswer(number))
        case .goodbye(let reason): goodbyeArrived(for: reason, at: now)
        case .ssrcRefused(let refused): if refused == ssrc { standing.reportCollision(&events, at: now) }
        case .limited(let packets, let bits):
            let limits = TalkerLimits(packetsPerSecond: Int(packets), bitsPerSecond: Int(bits))
            guard session?.limits != limits else { return .handled }
            session?.limits = limits
            events.post(.limited(limits))
        case .refused(let counts): relayRefusals.reported(counts, &events)
        case .report(let range):
            guard RTCPCompound.isRTCP(secondByte: bytes[range.lowerBound + 1]) else { return .discarded(.malformed) }
            opened = (.control, range)
            return .opened
        case .roster(let head, let entries):
            roster.changeArrived(head, entries, &events, at: now)
            advance(at: now)
        case .rosterPage(let head, let entries):
            roster.pageArrived(head, entries, as: configuration.role, isJoined: isJoined, &events, at: now)
        case .floor(let message):
            guard floor != nil, !message.isFromParticipant else { return .discarded(.unexpected) }
            floor?.receive(message, at: now)
            sendFloorMessages()
        case .managed(let range): return readManaged(range, at: now)
        case .hearingRequest(let request): hearing.requestArrived(request)
        case .hearingList(let list): hearing.listArrived(list, roster)
        case .renewal, .leave, .pathAnswer, .info, .rosterRequest, .hearing: return .discarded(.unexpected)
        }
        return .handled
    }
}
