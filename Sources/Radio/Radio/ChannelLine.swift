internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV

/// A session's way into its channel: through a relay elsewhere, or through one of its own, which answers the channel's members.
/// Network thread.
final class ChannelLine {
    private var channel: Channel
    private let relay: OwnRelay?
    private let tracker: HostTracker?
    private let clockTrust: ClockTrust
    private var lastClockReading: Instant
    private var bytes: [UInt8] = []
    private var opened: [UInt8] = []

    /// `ssrc` is the station's. `local` is where members reach us, where we answer them.
    init(
        _ settings: ChannelSettings, _ coding: CodingSettings, ssrc: SSRC, local: Endpoint, at now: Instant
    ) {
        settings.suite.prepare()
        var generator = CSPRNG()
        relay = settings.relay == nil ? OwnRelay(settings.keys, at: local, now, Self.clock, using: &generator) : nil
        tracker = settings.relay.flatMap { relay in
            relay.host.map {
                HostTracker(
                    $0, port: relay.endpoints[0].port, every: Self.findInterval, atMost: Self.findInterval, at: now)
            }
        }
        lastClockReading = now
        clockTrust = settings.clock
        var configuration = ChannelConfiguration(
            keys: settings.keys, role: settings.role, relay: settings.relay?.id ?? RelayID(host: "", port: local.port),
            endpoints: settings.relay?.endpoints ?? [OwnRelay.endpoint], suite: settings.suite,
            bitRate: coding.bitRate, frameCount: FrameCount(coding.frame),
            isSynchronised: settings.clock.isSynchronised)
        configuration.name = settings.name
        channel = Channel(
            configuration, ssrc: ssrc, at: now, clock: Self.clock, suspended: RealTimeClock.suspended, using: &generator
        )
        bytes.reserveCapacity(Channel.maximumDatagramByteCount)
        opened.reserveCapacity(Channel.maximumDatagramByteCount)
    }

    /// Takes in a datagram from the network. False where nobody who has the channel's keys, or the session's, sent it.
    func receive(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, hand: Protection.Hand, send: Protection.Send
    ) -> Bool {
        guard let relay else { return take(datagram, from: sender, at: now, hand) }
        guard sender != OwnRelay.endpoint else { return false }
        return relay.receive(datagram, from: sender, at: now) { datagram, member in
            deliver(datagram, to: member, at: now, hand, send)
        }
    }

    /// Takes in what the station sends.
    func send(_ datagram: Span<UInt8>, isControl: Bool, at now: Instant) {
        channel.suspended = RealTimeClock.suspended
        channel.send(datagram, isControl: isControl, at: now)
    }

    /// Sends what is to go out until there is no more.
    func flush(at now: Instant, hand: Protection.Hand, send: Protection.Send) {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            while let (datagram, destination) = next({ channel.nextDatagram(into: &$0) }) {
                isQuiet = false
                guard let relay else {
                    send(datagram.span, RTPSession.Destination(endpoint: destination, isControl: false))
                    continue
                }
                _ = relay.receive(datagram.span, from: OwnRelay.endpoint, at: now) { datagram, member in
                    deliver(datagram, to: member, at: now, hand, send)
                }
            }
            relay?.drain { datagram, member in
                isQuiet = false
                deliver(datagram, to: member, at: now, hand, send)
            }
        }
    }

    func timeElapsed(at now: Instant) {
        channel.suspended = RealTimeClock.suspended
        if let deadline = channel.nextDeadline, deadline <= now { channel.timeElapsed(at: now) }
        relay?.timeElapsed(at: now)
    }

    /// To be called several times a second: sees what time it is, and where the relay is. `flush` is to follow.
    func poll(at now: Instant) {
        // The wall clock may be set, or be called synchronised.
        if now - lastClockReading >= Self.clockInterval {
            lastClockReading = now
            channel.suspended = RealTimeClock.suspended
            channel.setClock(Self.clock, isSynchronised: clockTrust.isSynchronised, at: now)
            relay?.setClock(Self.clock, at: now)
        }
        if let endpoints = tracker?.look(isReached: channel.isJoined, at: now) {
            channel.setRelay(at: endpoints, now)
        }
    }

    private static var clock: WallClock { WallClock(milliseconds: RealTimeClock.milliseconds) }
    /// The least time between two questions to a name server where the relay is.
    static let findInterval = Duration.seconds(30)
    private static let clockInterval = Duration.seconds(1)

    var nextDeadline: Instant? {
        [channel.nextDeadline, relay?.nextDeadline].compactMap { $0 }.min()
    }

    /// Our microphone is open or closed now.
    func microphone(isOpen: Bool, at now: Instant) { channel.microphone(isOpen: isOpen, at: now) }

    /// Asks the relay for a page of listeners; an event brings it.
    func requestListeners(from position: Int, at now: Instant) { channel.requestListeners(from: position, at: now) }

    /// Who else is there; nil where that is not told.
    var members: ChannelMembers? { channel.members }

    func nextEvent() -> ChannelEvent? { channel.nextEvent() }

    /// The station's SSRC is another one from now on.
    func setSSRC(_ ssrc: SSRC) { channel.ssrc = ssrc }

    /// Tells the relay, or the members, that we go. `flush` is to follow, and nothing else.
    func leave(at now: Instant) {
        channel.leave(at: now)
        relay?.stop(at: now)
    }

    /// To one of us, or to another member.
    private func deliver(
        _ datagram: Span<UInt8>, to member: Endpoint, at now: Instant, _ hand: Protection.Hand, _ send: Protection.Send
    ) {
        if member == OwnRelay.endpoint {
            _ = take(datagram, from: member, at: now, hand)
        } else {
            send(datagram, RTPSession.Destination(endpoint: member, isControl: false))
        }
    }

    /// What the relay says, and what others do through it.
    private func take(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, _ hand: Protection.Hand) -> Bool
    {
        channel.suspended = RealTimeClock.suspended
        let reception = channel.receive(datagram, from: sender, at: now)
        while true {
            opened.removeAll(keepingCapacity: true)
            var kind: Channel.Opened?
            opened.append(addingCapacity: Channel.maximumDatagramByteCount) { kind = channel.nextOpened(into: &$0) }
            if kind == nil { break }
            hand(opened.span, Channel.sessionEndpoint)
        }
        return switch reception {
        case .discarded(.stranger), .discarded(.malformed), .discarded(.forged), .discarded(.unopened): false
        case .opened, .handled, .held, .discarded: true
        }
    }

    private func next(_ take: (inout OutputSpan<UInt8>) -> Endpoint?) -> ([UInt8], Endpoint)? {
        bytes.removeAll(keepingCapacity: true)
        var destination: Endpoint?
        bytes.append(addingCapacity: Channel.maximumDatagramByteCount) { destination = take(&$0) }
        return destination.map { (bytes, $0) }
    }
}
