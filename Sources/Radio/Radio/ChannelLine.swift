internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourFloor
internal import TenfourManagedChannel
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV

/// Encrypts and decrypts media with a channel's keys. The session joins a relay elsewhere, or is itself the relay of
/// the channel's members. Use it on the network thread only.
final class ChannelLine: Protection {
    private var channel: Channel
    /// Our files in a managed channel; nil without an identity.
    private let files: MembershipFiles?
    /// The reason why the session cannot go on; nil if there is none.
    private var failure: RadioError?
    private let relay: OwnRelay?
    private var relays: [FoundRelay]
    private let clockTrust: ClockTrust
    private var lastClockReading: Instant
    /// The moment at which it was written when each member was heard last.
    private var lastKeeping: Instant
    /// Decrypted packets for the RTP session.
    private var opened = DatagramQueue()
    /// Datagrams from our own relay to other members.
    private var outbox = DatagramQueue()
    private var bytes: [UInt8] = []

    /// Begins to join the channel, or to relay it. `ssrc` is the SSRC of the RTP session. `local` is the address at
    /// which members reach our own relay.
    init(
        _ settings: ChannelSettings, _ coding: CodingSettings, _ floor: FloorUse, ssrc: SSRC, local: Endpoint,
        at now: Instant
    ) {
        settings.suite.prepare()
        var generator = CSPRNG()
        relay = settings.relays.isEmpty ? OwnRelay(settings.keys, at: local, now, Self.clock, using: &generator) : nil
        relays = settings.relays.map { FoundRelay($0, at: now) }
        lastClockReading = now
        lastKeeping = now
        clockTrust = settings.clock
        var configuration = ChannelConfiguration(
            keys: settings.keys, role: settings.role,
            relays: relay == nil
                ? relays.flatMap(\.candidates)
                : [RelayCandidate(id: RelayID(host: "", port: local.port), endpoint: OwnRelay.endpoint)],
            suite: settings.suite,
            bitRate: coding.bitRate, frameCount: FrameCount(coding.frame),
            isSynchronised: settings.clock.isSynchronised)
        configuration.name = settings.name
        configuration.fingerprint = settings.fingerprint
        configuration.identity = settings.membership?.identity
        configuration.drawsFromSystem = true
        files = settings.membership?.files
        configuration.usesFloor = floor != .none && settings.role == .talk
        channel = Channel(
            configuration, ssrc: ssrc, at: now, clock: Self.clock, suspended: RealTimeClock.suspended, using: &generator
        )
        bytes.reserveCapacity(Channel.maximumDatagramByteCount)
    }

    // MARK: - Input

    /// Decrypts or handles a datagram from the network. Returns false if it was protected neither with the channel's
    /// keys nor with the session's keys.
    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
        defer { if channel.wantsState { restoreState() } }
        guard let relay else { return open(datagram, from: sender, at: now) }
        guard sender != OwnRelay.endpoint else { return false }
        let isHandled = relay.receive(datagram, from: sender, at: now)
        route(at: now)
        return isHandled
    }

    func send(_ datagram: Span<UInt8>, to destination: RTPSession.Destination, at now: Instant) {
        channel.suspended = RealTimeClock.suspended
        channel.send(datagram, isControl: destination.isControl, at: now)
        route(at: now)
    }

    func timeElapsed(at now: Instant) {
        channel.suspended = RealTimeClock.suspended
        if let deadline = channel.nextDeadline, deadline <= now { channel.timeElapsed(at: now) }
        relay?.timeElapsed(at: now)
        route(at: now)
    }

    /// Reads the wall clock, looks up the relay's name if a lookup is due, and writes our files. Call this several times a
    /// second. Returns the reason why the session cannot go on; nil if there is none.
    func poll(at now: Instant) -> RadioError? {
        // Reads the wall clock regularly, because it can be set, or become synchronised, during the session.
        if now - lastClockReading >= Self.clockInterval {
            lastClockReading = now
            channel.suspended = RealTimeClock.suspended
            channel.setClock(Self.clock, isSynchronised: clockTrust.isSynchronised, at: now)
            relay?.setClock(Self.clock, at: now)
            depositChangedRoster(at: now)
            if now - lastKeeping >= Self.keepingInterval { keepHeard(at: now) }
        }
        exchangeFile(at: now)
        var hasFound = false
        for index in relays.indices where relays[index].poll(isReached: channel.isJoined, at: now) { hasFound = true }
        if hasFound { channel.setRelays(relays.flatMap(\.candidates), at: now) }
        route(at: now)
        return failure
    }

    /// Records whether our microphone is open.
    func microphone(isOpen: Bool, at now: Instant) {
        channel.microphone(isOpen: isOpen, at: now)
        route(at: now)
    }

    /// Requests the floor, or raises the priority of a request.
    func pressFloor(_ priority: FloorPriority, waits: Bool, at now: Instant) {
        channel.pressFloor(priority, waits: waits, at: now)
        route(at: now)
    }

    func releaseFloor(at now: Instant) {
        channel.releaseFloor(at: now)
        route(at: now)
    }

    func nextFloorEvent() -> FloorEvent? { channel.nextFloorEvent() }

    /// Our part of floor control; nil if we never request the floor.
    var floor: FloorParticipant? { channel.floor }

    /// Requests a page of listeners from the relay. An event delivers the page.
    func requestListeners(from position: Int, at now: Instant) {
        channel.requestListeners(from: position, at: now)
        route(at: now)
    }

    /// Passes between the relay and the RTP session who hears whom.
    func exchangeHearing(with session: inout RTPSession, at now: Instant) {
        channel.exchangeHearing(with: &session, at: now)
        route(at: now)
    }

    /// Sets the new SSRC of the RTP session.
    func setSSRC(_ ssrc: SSRC) { channel.ssrc = ssrc }

    /// Sends a good-bye to the relay or the members, and waits until our files are on disk. Send nothing afterwards.
    func leave(at now: Instant) {
        channel.leave(at: now)
        relay?.stop(at: now)
        route(at: now)
        exchangeFile(at: now)
        keepHeard(at: now)
        files?.finish()
    }

    // MARK: - Output

    func nextOpened(into packet: inout OutputSpan<UInt8>) -> Endpoint? { opened.next(into: &packet) }

    func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> RTPSession.Destination? {
        let endpoint = relay == nil ? channel.nextDatagram(into: &datagram) : outbox.next(into: &datagram)
        return endpoint.map { RTPSession.Destination(endpoint: $0, isControl: false) }
    }

    func nextEvent() -> ChannelEvent? {
        let event = channel.nextEvent()
        if case .managed(let event) = event { keep(event) }
        return event
    }

    var nextDeadline: Instant? { [channel.nextDeadline, relay?.nextDeadline].compactMap { $0 }.min() }

    /// The address of the relay that has let us in last; nil before the first one has, and if we are the relay.
    var relayEndpoint: Endpoint? { relay == nil ? channel.relay : nil }

    /// The other members; nil if the relay does not list them.
    var members: ChannelMembers? { channel.members }

    /// The relay's clock less ours; nil while we are not joined, and if we are the relay.
    func relayClockDifference(at now: Instant) -> ClockDifference? {
        relay == nil ? channel.relayClockDifference(at: now) : nil
    }

    /// The counts of our packets that relays have refused to forward.
    var refusedByRelay: MediaRefusalCounts { channel.refusedByRelay }

    /// The number of packets that somebody has forged.
    var interferenceCount: Int { channel.interferenceCount }

    /// The counts of what was refused for its time.
    var refusedForTime: TimeRefusalCounts { channel.refusedForTime }

    // MARK: - Our files in a managed channel

    /// The newest list of members that the owner has signed; nil if it is not known.
    var signedRoster: SignedRoster? { channel.signedRoster }

    /// The state of our membership in a managed channel; nil in an open one.
    func managedSnapshot(at now: Instant) -> RadioSnapshot.ManagedSnapshot? {
        guard channel.isManaged else { return nil }
        return RadioSnapshot.ManagedSnapshot(secretAge: channel.secretAge(at: now))
    }

    /// Whether others can hear us once we have joined; false in a managed channel whose secret we do not have yet.
    var canTalk: Bool { channel.canEncrypt }

    /// Whether all changes of our files are on disk.
    var hasStoredFiles: Bool { files?.isIdle ?? true }

    /// Reads what the run before has kept, now that the channel is known to be managed.
    private func restoreState() {
        guard let files, failure == nil else { return }
        guard files.lock() else {
            failure = RadioError(
                .unavailable,
                "another tenfour of yours on this machine is in this channel, and members are there once: end it first")
            return
        }
        do throws(RadioError) { channel.restore(try files.load()) } catch { failure = error }
        _ = files.changedRoster()
    }

    /// Writes a changed file on another thread, and tells the channel when it is on disk.
    private func exchangeFile(at now: Instant) {
        if let isStored = files?.takeOutcome() { channel.fileStored(isStored, at: now) }
        if let change = channel.takeFile(at: now) { files?.begin(change) }
    }

    private func keep(_ event: ManagedEvent) {
        switch event {
        case .rosterChanged: if let roster = channel.signedRoster { files?.keep(roster) }
        case .rosterDeposited(let version): files?.reportDeposited(version)
        default: break
        }
    }

    /// Keeps when each member was heard last.
    private func keepHeard(at now: Instant) {
        guard let files, !channel.lastHeard.isEmpty else { return }
        lastKeeping = now
        files.keep(heard: channel.lastHeard.mapValues { Self.clock.seconds - UInt64(max((now - $0) / .seconds(1), 0)) })
    }

    /// Deposits a roster that a command of the owner has signed since.
    private func depositChangedRoster(at now: Instant) {
        guard channel.isManaged, !channel.wantsState, let roster = files?.changedRoster() else { return }
        channel.deposit(roster, at: now)
    }

    /// Deposits a roster that we have signed as the owner.
    func deposit(_ roster: SignedRoster, at now: Instant) {
        channel.deposit(roster, at: now)
        route(at: now)
    }

    // MARK: - Between the channel and our own relay

    /// Decrypts or handles a datagram from the relay, either the relay's own or a forwarded one.
    private func open(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
        channel.suspended = RealTimeClock.suspended
        let reception = channel.receive(datagram, from: sender, at: now)
        var isOpened = true
        while isOpened {
            opened.put(capacity: Channel.maximumDatagramByteCount, to: Channel.sessionEndpoint) {
                isOpened = channel.nextOpened(into: &$0) != nil
            }
        }
        return switch reception {
        case .discarded(.stranger), .discarded(.malformed), .discarded(.forged), .discarded(.unopened): false
        case .opened, .handled, .held, .discarded: true
        }
    }

    /// Passes datagrams between the channel, our own relay and the outbox until none are left.
    private func route(at now: Instant) {
        guard let relay else { return }
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            while let (datagram, _) = next({ channel.nextDatagram(into: &$0) }) {
                isQuiet = false
                _ = relay.receive(datagram.span, from: OwnRelay.endpoint, at: now)
            }
            while let (datagram, member) = next({ relay.nextDatagram(into: &$0) }) {
                isQuiet = false
                if member == OwnRelay.endpoint {
                    _ = open(datagram.span, from: member, at: now)
                } else {
                    outbox.put(datagram.span, to: member)
                }
            }
        }
    }

    private func next(_ take: (inout OutputSpan<UInt8>) -> Endpoint?) -> ([UInt8], Endpoint)? {
        bytes.removeAll(keepingCapacity: true)
        var destination: Endpoint?
        bytes.append(addingCapacity: Channel.maximumDatagramByteCount) { destination = take(&$0) }
        return destination.map { (bytes, $0) }
    }

    private static var clock: WallClock { WallClock(milliseconds: RealTimeClock.milliseconds) }
    /// The time between two readings of the wall clock.
    private static let clockInterval = Duration.seconds(1)
    private static let keepingInterval = Duration.seconds(60)
}
