public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourPackets
public import TenfourSession

/// A member's place in a channel, between a station and the network (Protocol/05-channel-keys.md, 06-control.md): joins and
/// stays, protects what the station sends, opens what comes for it. Opens no socket, reads no clock, starts no thread.
///
/// After each input, take opened packets until nil, then datagrams until nil, then events until nil, then sleep until
/// `nextDeadline`. The station has `sessionEndpoint` for its one remote, and knows nothing of keys.
public struct Channel: ~Copyable, Sendable {
    public private(set) var configuration: ChannelConfiguration
    public internal(set) var discards = ChannelDiscardCounts()
    /// Our station's. Changes by itself with the sound that the station sends; one that only listens is to say so.
    public var ssrc: SSRC

    var generator: CSPRNG
    var joinHandshake = JoinHandshake()
    var session: ChannelSession?
    /// Nil where nobody has told us the time yet.
    var wallClock: WallClockEstimate?
    /// CLOCK_BOOTTIME less CLOCK_MONOTONIC: for how long the machine has slept since it was started. To be set before each input.
    public var suspended = Duration.zero
    var ownEpochs = OwnEpochs()
    var talk = ProtectedSendStream()
    var talkers = Talkers()
    var held = HeldPackets()
    /// A packet that was opened, or a report: so many bytes of `bytes`.
    var opened: (kind: Opened, range: Range<Int>)?
    var bytes = [UInt8](repeating: 0, count: HeldPackets.maximumByteCount)
    var lastInput: Instant
    var microphone = MemberInfo.Microphone.none
    var ownInfo: OwnMemberInfo
    var roster = RosterView()
    var listenerRequest: ListenerRequest?
    var outbox = DatagramQueue(limit: Self.mostWaitingDatagrams)
    var events = ChannelEvents()
    /// When we last reported that another station talks under our SSRC.
    var lastCollision: Instant?
    /// What was told last of being in or out.
    var standing: Standing = .nothing
    /// When people are to be told that the relay refuses us without proof.
    var unprovedDeadline: Instant?
    var hasLeft = false

    enum Standing: Equatable {
        case nothing
        case joined(PeerAddress)
        case lost
        case refused(Refusal.Reason)
        case closed(Refusal.Reason)
    }

    /// What became of a datagram from the network.
    public enum Reception: Hashable, Sendable {
        /// `nextOpened` has something for the station.
        case opened
        case handled
        /// Kept until it can be opened.
        case held
        case discarded(ChannelDiscard)
    }

    /// What `nextOpened` has written. `RTPSession.receive` tells them apart by themselves.
    public enum Opened: Hashable, Sendable {
        /// RTP of another member, with its padding.
        case media
        /// RTCP of the relay.
        case control
    }

    /// What a station has for its one remote, and its sources for their address: no datagram ever goes there.
    public static let sessionEndpoint = Endpoint(.anyV4, port: 5_004)
    public var sessionEndpoint: Endpoint { Self.sessionEndpoint }
    private static let mostWaitingDatagrams = 64
    /// `nextDatagram` and `nextOpened` need room for so many bytes.
    public static let maximumDatagramByteCount = 1_536

    /// Wants to join from `now` on. `ssrc` is the station's, `clock` the time of day at `now`, `suspended` as the property;
    /// `generator` must be one that nobody can foretell.
    public init(
        _ configuration: ChannelConfiguration, ssrc: SSRC, at now: Instant, clock: WallClock,
        suspended: Duration = .zero, using generator: inout some RandomNumberGenerator
    ) {
        self.configuration = configuration
        self.ssrc = ssrc
        self.generator = CSPRNG(using: &generator)
        self.suspended = suspended
        ownInfo = OwnMemberInfo(id: self.generator.next(), name: configuration.name)
        microphone = configuration.role == .talk ? .closed : .none
        wallClock =
            configuration.isSynchronised ? WallClockEstimate(clock, isSynchronised: true, at: now + suspended) : nil
        lastInput = now
        joinHandshake.begin(at: now)
        advance(at: now)
    }

    // MARK: - In

    /// Takes in a datagram that `sender` sent. Total: whatever its bytes, it is opened, understood, held, or counted
    /// and forgotten. Only what a member or the relay made changes anything.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        lastInput = now
        let reception = read(datagram, from: sender, at: now)
        if case .discarded(let reason) = reception { discards.count(reason) }
        return reception
    }

    /// Takes in what the station sends: its sound, or its reports and good-byes.
    public mutating func send(_ datagram: Span<UInt8>, isControl: Bool, at now: Instant) {
        lastInput = now
        if let reason = isControl ? sendReport(datagram) : sendMedia(datagram, at: now) { discards.count(reason) }
    }

    /// `nextDeadline` has come. Earlier it does nothing.
    public mutating func timeElapsed(at now: Instant) {
        lastInput = now
        advance(at: now)
    }

    /// Takes what the wall clock shows; to be called about once a second, as the clock may be set. Where the kernel
    /// does not call it synchronised, the time known before goes on, or the relay's is taken.
    public mutating func setClock(_ clock: WallClock, isSynchronised: Bool = true, at now: Instant) {
        configuration.isSynchronised = isSynchronised
        let boot = now + suspended
        if isSynchronised {
            wallClock = WallClockEstimate(clock, isSynchronised: true, at: boot)
        } else if let reading = reading(at: now), reading.isSynchronised {
            wallClock = WallClockEstimate(reading.wall, isSynchronised: false, at: boot)
        }
    }

    /// Nil where nobody has told us the time yet.
    func reading(at now: Instant) -> ClockReading? {
        wallClock?.reading(at: now + suspended, suspended: suspended)
    }

    /// The relay's name is known to stand for these now, one or more. Where they are others than before, and the relay is
    /// not to be found, they are asked at once.
    public mutating func setRelay(at endpoints: [Endpoint], _ now: Instant) {
        precondition(!endpoints.isEmpty, "a relay is somewhere")
        lastInput = now
        guard Set(endpoints) != Set(configuration.endpoints) else { return }
        configuration.endpoints = endpoints
        joinHandshake.endpointsChanged(at: now)
        advance(at: now)
    }

    /// Tells the relay that we go. Nothing should follow.
    public mutating func leave(at now: Instant) {
        say(.leave)
        session = nil
        roster = RosterView()
        joinHandshake.end()
        unprovedDeadline = nil
        hasLeft = true
    }

    // MARK: - Out

    /// Appends the next packet for the station to `packet`, which has room for `maximumDatagramByteCount`; nil where
    /// there is none. It comes from `sessionEndpoint`.
    public mutating func nextOpened(into packet: inout OutputSpan<UInt8>) -> Opened? {
        if opened == nil { openReleased() }
        guard let (kind, range) = opened else { return nil }
        opened = nil
        for index in range { packet.append(bytes[index]) }
        return kind
    }

    /// Appends the next datagram to go out to `datagram`, which has room for `maximumDatagramByteCount`; nil where
    /// there is none.
    public mutating func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> Endpoint? {
        outbox.next(into: &datagram)
    }

    public mutating func nextEvent() -> ChannelEvent? { events.next() }

    /// When `timeElapsed` wants to be called at the latest.
    public var nextDeadline: Instant? {
        var next = session?.keepalive.deadline
        for deadline in [joinHandshake.deadline, unprovedDeadline, rosterDeadline] {
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    // MARK: - For people

    /// Whether a relay has let us in and answers.
    public var isJoined: Bool { if case .joined = standing { true } else { false } }

    /// Packets that wait for their announcement.
    public var heldCount: Int { held.count }
}
