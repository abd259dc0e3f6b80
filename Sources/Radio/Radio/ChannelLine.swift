internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV

/// Encrypts and decrypts media with a channel's keys. The session joins a relay elsewhere, or is itself the relay of
/// the channel's members. Use it on the network thread only.
final class ChannelLine: Protection {
    private var channel: Channel
    private let relay: OwnRelay?
    private var relays: [FoundRelay]
    private let clockTrust: ClockTrust
    private var lastClockReading: Instant
    /// Decrypted packets for the RTP session.
    private var opened = DatagramQueue()
    /// Datagrams from our own relay to other members.
    private var outbox = DatagramQueue()
    private var bytes: [UInt8] = []

    /// Begins to join the channel, or to relay it. `ssrc` is the SSRC of the RTP session. `local` is the address at
    /// which members reach our own relay.
    init(
        _ settings: ChannelSettings, _ coding: CodingSettings, ssrc: SSRC, local: Endpoint, at now: Instant
    ) {
        settings.suite.prepare()
        var generator = CSPRNG()
        relay = settings.relays.isEmpty ? OwnRelay(settings.keys, at: local, now, Self.clock, using: &generator) : nil
        relays = settings.relays.map { FoundRelay($0, at: now) }
        lastClockReading = now
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
        channel = Channel(
            configuration, ssrc: ssrc, at: now, clock: Self.clock, suspended: RealTimeClock.suspended, using: &generator
        )
        bytes.reserveCapacity(Channel.maximumDatagramByteCount)
    }

    // MARK: - Input

    /// Decrypts or handles a datagram from the network. Returns false if it was protected neither with the channel's
    /// keys nor with the session's keys.
    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
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

    /// Reads the wall clock, and looks up the relay's name if a lookup is due. Call this several times a second.
    func poll(at now: Instant) {
        // Reads the wall clock regularly, because it can be set, or become synchronised, during the session.
        if now - lastClockReading >= Self.clockInterval {
            lastClockReading = now
            channel.suspended = RealTimeClock.suspended
            channel.setClock(Self.clock, isSynchronised: clockTrust.isSynchronised, at: now)
            relay?.setClock(Self.clock, at: now)
        }
        var hasFound = false
        for index in relays.indices where relays[index].poll(isReached: channel.isJoined, at: now) { hasFound = true }
        if hasFound { channel.setRelays(relays.flatMap(\.candidates), at: now) }
        route(at: now)
    }

    /// Records whether our microphone is open.
    func microphone(isOpen: Bool, at now: Instant) {
        channel.microphone(isOpen: isOpen, at: now)
        route(at: now)
    }

    /// Requests a page of listeners from the relay. An event delivers the page.
    func requestListeners(from position: Int, at now: Instant) {
        channel.requestListeners(from: position, at: now)
        route(at: now)
    }

    /// Sets the new SSRC of the RTP session.
    func setSSRC(_ ssrc: SSRC) { channel.ssrc = ssrc }

    /// Sends a good-bye to the relay or the members. Send nothing afterwards.
    func leave(at now: Instant) {
        channel.leave(at: now)
        relay?.stop(at: now)
        route(at: now)
    }

    // MARK: - Output

    func nextOpened(into packet: inout OutputSpan<UInt8>) -> Endpoint? { opened.next(into: &packet) }

    func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> RTPSession.Destination? {
        let endpoint = relay == nil ? channel.nextDatagram(into: &datagram) : outbox.next(into: &datagram)
        return endpoint.map { RTPSession.Destination(endpoint: $0, isControl: false) }
    }

    func nextEvent() -> ChannelEvent? { channel.nextEvent() }

    var nextDeadline: Instant? { [channel.nextDeadline, relay?.nextDeadline].compactMap { $0 }.min() }

    /// The address of the relay that has let us in last; nil before the first one has, and if we are the relay.
    var relayEndpoint: Endpoint? { relay == nil ? channel.relay : nil }

    /// The other members; nil if the relay does not list them.
    var members: ChannelMembers? { channel.members }

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
}
