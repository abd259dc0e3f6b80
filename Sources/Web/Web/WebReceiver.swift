internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourPackets
internal import TenfourRelayServer
internal import TenfourSession
internal import TenfourUV

/// Receives one channel of the relay, as a member of an encrypted channel or as a target of a plain one.
///
/// Use it on the gateway's thread only.
@safe final class WebReceiver {
    /// The address to which a plain channel's packets are sent.
    let localEndpoint: Endpoint
    /// The names of talkers by their reports, which only plain channels need.
    private(set) var names: [SSRC: String] = [:]

    private let loop: EventLoop
    private let socket: UDPSocket
    private var rtpSession: RTPSession
    /// The membership in an encrypted channel; nil for a plain channel, and before the relay runs.
    private var channel: Channel?
    private let membership: WebConfiguration.Membership?
    private var relay: Endpoint?
    private var timer: LoopTimer?
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private let output: Output

    /// Where the packets go.
    struct Output {
        var heard: (MediaPacket, Span<UInt8>, Instant) -> Void
        var left: (SSRC) -> Void
    }

    private static let capacity = 2_048

    /// Opens a socket at `address`, an address of this machine. Packets arrive after `join`.
    init(
        _ membership: WebConfiguration.Membership?, at address: IPAddress, on loop: EventLoop, output: Output
    ) throws(NetworkError) {
        self.loop = loop
        self.output = output
        self.membership = membership
        socket = try UDPSocket(on: loop, bindingTo: Endpoint(address, port: 0))
        localEndpoint = socket.localEndpoint
        var generator = SystemRandomNumberGenerator()
        let (seconds, nanoseconds) = RealTimeClock.sinceEpoch
        let wallClock = NTPTime(secondsSince1970: seconds, nanoseconds: nanoseconds).advanced(by: .start - loop.now)
        let identity = Identity.random(wallClock: wallClock, using: &generator)
        rtpSession = RTPSession(identity: identity, configuration: Self.configuration(membership), at: loop.now)
        unsafe buffer = .allocate(capacity: Self.capacity)
        timer = try loop.makeTimer { [unowned self] in timeElapsed() }
        socket.receive { [unowned self] datagram, sender, now in receive(datagram, from: sender, at: now) }
    }

    deinit { unsafe buffer.deallocate() }

    private static func configuration(_ membership: WebConfiguration.Membership?) -> RTPSessionConfiguration {
        var configuration = RTPSessionConfiguration()
        // Retransmissions are in time for as long as the live stream holds a packet.
        configuration.lossProtection.maximumDelay = .milliseconds(180)
        if membership != nil {
            configuration.remotes = [Channel.sessionEndpoint]
            configuration.lossProtection.sourcesSupportNACK = true
        } else {
            // The relay forwards no reports, so there is nobody to report to.
            configuration.acceptStaticPayloadTypes()
            configuration.controlPort = .none
            configuration.hearsGroup = true
        }
        return configuration
    }

    /// Begins to receive from the relay at `endpoint`.
    func join(_ endpoint: Endpoint) {
        relay = endpoint
        let now = loop.now
        if let membership {
            let suite = SRTPSuite.aesCounterMode
            suite.prepare()
            var generator = CSPRNG()
            // The relay may accept one of the link's names only.
            var ids = membership.link.relays.map(\.id)
            if ids.isEmpty { ids = [RelayID(host: "", port: endpoint.port)] }
            let configuration = ChannelConfiguration(
                keys: membership.keys, role: .listen,
                relays: ids.map { RelayCandidate(id: $0, endpoint: endpoint) }, suite: suite,
                isSynchronised: RealTimeClock.isSet)
            channel = Channel(
                configuration, ssrc: rtpSession.ssrc, at: now, clock: Self.clock, suspended: RealTimeClock.suspended,
                using: &generator)
        }
        flush(at: now)
    }

    /// Whether packets of the channel can arrive.
    var isJoined: Bool { membership == nil ? relay != nil : channel?.isJoined ?? false }

    /// The other members of an encrypted channel; nil if they are not known.
    var members: ChannelMembers? { channel?.members }

    /// Reads the wall clock, which may be set while the gateway runs. Call it once a second.
    func poll(at now: Instant) {
        channel?.suspended = RealTimeClock.suspended
        channel?.setClock(Self.clock, isSynchronised: RealTimeClock.isSet, at: now)
        flush(at: now)
    }

    /// Leaves the channel and closes the socket.
    func close() {
        let now = loop.now
        channel?.leave(at: now)
        flush(at: now)
        timer?.close()
        socket.close()
    }

    // MARK: - Datagrams

    private func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        guard let relay, sender == relay else { return }
        if membership == nil {
            receiveOpened(datagram, from: sender, at: now)
        } else {
            channel?.suspended = RealTimeClock.suspended
            _ = channel?.receive(datagram, from: sender, at: now)
        }
        flush(at: now)
    }

    private func receiveOpened(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        guard case .media(let packet) = rtpSession.receive(datagram, from: sender, at: now) else { return }
        for index in 0..<packet.copyCount { output.heard(packet.copy(index), datagram, now) }
        output.heard(packet, datagram, now)
    }

    private func timeElapsed() {
        let now = loop.now
        rtpSession.timeElapsed(at: now)
        channel?.suspended = RealTimeClock.suspended
        channel?.timeElapsed(at: now)
        flush(at: now)
    }

    /// Passes datagrams between the RTP session, the channel and the socket until none are left, and arms the timer.
    private func flush(at now: Instant) {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            while passOn({ channel?.nextOpened(into: &$0) }, { opened($0, $1, at: now) }) { isQuiet = false }
            while passOn({ rtpSession.nextDatagram(into: &$0) }, { send($0, $1, at: now) }) { isQuiet = false }
            while passOn({ channel?.nextDatagram(into: &$0) }, { socket.send($0, to: $1) }) { isQuiet = false }
            while let event = channel?.nextEvent() {
                isQuiet = false
                if case .ssrcIsTaken = event { rtpSession.takeAnotherSSRC(at: now) }
            }
        }
        while let event = rtpSession.nextEvent() { handle(event) }
        let deadline = [rtpSession.nextDeadline, channel?.nextDeadline].compactMap { $0 }.min()
        if let deadline { timer?.arm(at: deadline) } else { timer?.disarm() }
    }

    private func opened(_ datagram: Span<UInt8>, _: Channel.Opened, at now: Instant) {
        receiveOpened(datagram, from: Channel.sessionEndpoint, at: now)
    }

    /// Sends a report of the RTP session to the members of the channel.
    private func send(_ datagram: Span<UInt8>, _ destination: RTPSession.Destination, at now: Instant) {
        channel?.send(datagram, isControl: destination.isControl, at: now)
    }

    private func handle(_ event: Event) {
        switch event {
        case .identityChanged(let ssrc): channel?.ssrc = ssrc
        case .sourceNamed(let ssrc, let name): names[ssrc] = name
        case .sourceLeft(let ssrc, _):
            names[ssrc] = nil
            output.left(ssrc)
        default: break
        }
    }

    /// Passes one datagram, which `take` appends, to `use`. Returns false if `take` has none left.
    private func passOn<Peer>(
        _ take: (inout OutputSpan<UInt8>) -> Peer?, _ use: (Span<UInt8>, Peer) -> Void
    ) -> Bool {
        var span = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
        let peer = take(&span)
        if let peer { use(span.span, peer) }
        _ = unsafe span.finalize(for: buffer)
        return peer != nil
    }

    private static var clock: WallClock { WallClock(milliseconds: RealTimeClock.milliseconds) }
}
