public import TenfourAudioCore
internal import TenfourCallQuality
internal import TenfourJitterBuffer
internal import TenfourPackets
public import TenfourRadio
public import TenfourSession

/// The client of a link test: it does the handshake, sends speech, receives the returned media, and computes the
/// result.
///
/// A server with the link test returns every datagram, so that both the speech and our own reports about it come back,
/// and lost packets are requested and recovered as between two sessions. The client also sends the speech to an
/// endpoint without the link test, and takes the result from the endpoint's reports.
///
/// After each input, call `nextDatagram` until it returns false, then sleep until `nextDeadline`.
public struct LinkTestClient: ~Copyable {
    public enum State: Hashable, Sendable {
        case handshake
        /// Speech packets are being sent. `isReturned` is true if the server returns them, and false if the endpoint
        /// does not know the link test.
        case speaking(isReturned: Bool)
        /// All speech packets were sent. The last ones may still be on their way.
        case waiting(isReturned: Bool)
        case over(Ending)
    }

    public enum Ending: Hashable, Sendable {
        case heard
        /// The endpoint has sent reports.
        case reported
        /// The server is serving another client.
        case busy
        /// Neither media nor a report has come back.
        case unanswered
    }

    public private(set) var state = State.handshake
    /// Whether the server has ended the test early, because another client waited for it.
    public private(set) var isCutShort = false

    private let configuration: Configuration
    private let clientNumber: UInt64
    private var serverNumber: UInt64 = 0
    private var hasServerNumber = false
    private var session: RTPSession
    private let firstTimestamp: RTPTimestamp
    private var receiver: SimulatedReceiver
    private var speech: SpeechSource
    private let hear: ((Span<Float>, SimulatedReceiver.Pull) -> Void)?

    private let createdAt: Instant
    private var nextHandshakePacket: Instant?
    private var handshakePackets: [LinkTestPacket] = []
    /// The FAREWELL packet, which is sent last because the server returns nothing after it.
    private var farewell: LinkTestPacket?
    private var start = Instant.start
    private var packetCount = 0
    /// The loss protection of the packet sent last. The session's own value may change afterwards, when no more loss is
    /// measured.
    private var lastLossProtection: LossProtection
    private var roundTrips = DelaySamples()

    /// The configuration of a link test: the server, the speech to send, and the settings.
    public struct Configuration: Sendable {
        public var host: Endpoint
        /// The speech to send, at 48 kHz, mono.
        public var speech: [Float]
        public var duration = Duration.seconds(10)
        public var coding = CodingSettings()
        public var playout = PlayoutSettings()
        public var lossProtection = LossProtectionConfiguration()

        public init(host: Endpoint, speech: [Float]) {
            self.host = host
            self.speech = speech
        }
    }

    private static let handshakeInterval = Duration.milliseconds(200)
    /// The time in which the first reply must arrive. It is long enough for a satellite link.
    private static let handshakeTimeout = Duration.seconds(2)
    /// The time for which the client waits for the last packets, after it has sent all of them.
    private static let drainTime = Duration.seconds(2)
    private static let packetDuration = Duration.milliseconds(20)

    /// Creates a client. `identity` is the identity of the sending session; the identity of the receiving session is
    /// derived from it. `hear` is called with the returned audio.
    public init(
        _ configuration: Configuration, identity: Identity, at now: Instant,
        hear: ((Span<Float>, SimulatedReceiver.Pull) -> Void)? = nil
    ) throws(RadioError) {
        var lossProtection = configuration.lossProtection
        lossProtection.bitRate = configuration.coding.bitRate
        let session = RTPSessionConfiguration(
            remotes: [configuration.host], accepted: .only([configuration.host.address]), name: "radiocheck",
            lossProtection: lossProtection)
        var own = identity
        own.ssrc = SSRC(~identity.ssrc.rawValue)
        own.seed = ~identity.seed
        own.canonicalName += "-listener"
        let receiver = try SimulatedReceiver(
            of: identity.ssrc, session: RTPSession(identity: own, configuration: session, at: now),
            playout: configuration.playout)
        let speech = try SpeechSource(configuration.speech, coding: configuration.coding)
        self.receiver = receiver
        self.speech = speech
        self.session = RTPSession(identity: identity, configuration: session, at: now)
        self.configuration = configuration
        self.hear = hear
        lastLossProtection = self.session.lossProtection
        firstTimestamp = identity.firstTimestamp
        clientNumber = identity.seed
        createdAt = now
        nextHandshakePacket = now
    }

    // MARK: - Input

    /// Receives a datagram from the network.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        // Accepts datagrams from any port of the host, because reports may come from another port.
        guard sender.address == configuration.host.address else { return }
        if let packet = LinkTestPacket(parsing: datagram) { return receive(packet, at: now) }
        guard case .handshake = state else { return receiveMedia(datagram, from: sender, at: now) }
    }

    /// Does the work that is due at `nextDeadline`. Does nothing before that time.
    public mutating func timeElapsed(at now: Instant) {
        switch state {
        case .handshake: shakeHands(at: now)
        case .speaking(let isReturned): sendSpeech(isReturned, at: now)
        case .waiting(let isReturned):
            if start + configuration.duration + Self.drainTime <= now { finish(isReturned, at: now) }
        case .over: return
        }
        processTimers(at: now)
    }

    /// Ends the test early. The result covers the packets received so far.
    public mutating func stop(at now: Instant) {
        switch state {
        case .handshake: state = .over(.unanswered)
        case .speaking(let isReturned), .waiting(let isReturned): finish(isReturned, at: now)
        case .over: break
        }
    }

    // MARK: - Output

    /// Appends the next datagram for the server to `buffer`, which has space for 1500 bytes; returns false if no
    /// datagram is left.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Bool {
        if !handshakePackets.isEmpty {
            handshakePackets.removeFirst().write(into: &buffer)
            return true
        }
        let isReturned: Bool
        switch state {
        case .handshake: return false
        case .speaking(true), .waiting(true), .over(.heard): isReturned = true
        case .speaking, .waiting, .over: isReturned = false
        }
        if session.nextDatagram(into: &buffer) != nil { return true }
        if isReturned, receiver.nextDatagram(into: &buffer) != nil { return true }
        guard let farewell else { return false }
        farewell.write(into: &buffer)
        self.farewell = nil
        return true
    }

    /// The latest time at which `timeElapsed` must be called; nil when the test is over.
    public var nextDeadline: Instant? {
        // The compiler (Swift 6.3) takes a quarter of a minute to check a borrow of so large a struct.
        mutating get {
            let own: Instant
            switch state {
            case .handshake: return nextHandshakePacket
            case .speaking: own = nextPacket
            case .waiting: own = start + configuration.duration + Self.drainTime
            case .over: return nil
            }
            return [session.nextDeadline, receiver.nextDeadline].reduce(own) { min($0, $1 ?? $0) }
        }
    }

    /// The result, once the test is over.
    ///
    /// Mutating for the compiler's sake, as `nextDeadline` is.
    public mutating func result() -> LinkTestResult {
        let isReturned = state == .over(.heard)
        var quality = isReturned ? receiver.report() : nil
        // Sets the round-trip time to the smallest measured one, because the reports state none for the returned media.
        if let away = roundTrips.quantile(0) { quality?.setRoundTrip(away) }
        return LinkTestResult(
            sentCount: packetCount, quality: quality,
            roundTrip: isReturned ? roundTrips : nil, view: isReturned ? nil : session.sendStream.lastReceiverView,
            lossProtection: lastLossProtection, bitRate: configuration.coding.bitRate,
            maximumDelay: configuration.lossProtection.maximumDelay)
    }

    // MARK: - Handshake

    private mutating func shakeHands(at now: Instant) {
        guard let nextHandshakePacket, nextHandshakePacket <= now else { return }
        guard now - createdAt < Self.handshakeTimeout else { return startMedia(isReturned: false, at: now) }
        handshakePackets.append(
            hasServerNumber
                ? LinkTestPacket(.confirmation, clientNumber: clientNumber, serverNumber: serverNumber)
                : LinkTestPacket(.hello, clientNumber: clientNumber))
        self.nextHandshakePacket = now + Self.handshakeInterval
    }

    private mutating func receive(_ packet: LinkTestPacket, at now: Instant) {
        guard packet.clientNumber == clientNumber else { return }
        let isServers = hasServerNumber && packet.serverNumber == serverNumber
        switch (state, packet.kind) {
        case (.handshake, .challenge) where !hasServerNumber:
            (serverNumber, hasServerNumber) = (packet.serverNumber, true)
            nextHandshakePacket = now
            shakeHands(at: now)
        case (.handshake, .acceptance) where isServers: startMedia(isReturned: true, at: now)
        case (.handshake, .refusal) where isServers: state = .over(.busy)
        case (.speaking(isReturned: true), .refusal) where isServers:
            isCutShort = true
            stop(at: now)
        default: break
        }
    }

    private mutating func startMedia(isReturned: Bool, at now: Instant) {
        state = .speaking(isReturned: isReturned)
        start = now
        nextHandshakePacket = nil
    }

    // MARK: - Media

    private var nextPacket: Instant { start + Self.packetDuration * (packetCount + 1) }

    private mutating func sendSpeech(_ isReturned: Bool, at now: Instant) {
        while nextPacket <= now, nextPacket <= start + configuration.duration {
            let lossProtection = session.lossProtection
            lastLossProtection = lossProtection
            let packet = speech.next(
                bitRate: lossProtection.bitRate, inBandFEC: lossProtection.inBandFEC,
                expectedLoss: lossProtection.expectedLoss)
            let position = FrameCount(packetCount * SpeechSource.frameCount.rawValue)
            session.send(packet.span, at: position, startsTalkspurt: packetCount == 0, now: now)
            packetCount += 1
            // Returns after one packet, because the session holds one packet only. `nextDatagram` has to be called
            // before the next packet is sent.
            return
        }
        if nextPacket > start + configuration.duration { state = .waiting(isReturned: isReturned) }
    }

    private mutating func receiveMedia(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        processTimers(at: now)
        recordRoundTrip(datagram, at: now)
        _ = session.receive(datagram, from: sender, at: now)
        receiver.receive(datagram, from: sender, at: now)
        while session.nextEvent() != nil {}
    }

    /// Records the round-trip time of a returned packet. Retransmissions count too, with a longer time.
    private mutating func recordRoundTrip(_ datagram: Span<UInt8>, at now: Instant) {
        guard datagram.count >= 2, !RTCPCompound.isRTCP(secondByte: datagram[1]),
            let header = try? RTPHeader(parsing: datagram), header.ssrc == session.ssrc
        else { return }
        let frames = header.timestamp.distance(after: firstTimestamp) + SpeechSource.frameCount
        let transit = now - (start + frames.duration())
        if transit >= .zero { roundTrips.add(transit) }
    }

    /// Does the work that is due in both sessions, and plays the audio that is due.
    private mutating func processTimers(at now: Instant) {
        if let deadline = session.nextDeadline, deadline <= now { session.timeElapsed(at: now) }
        if let deadline = receiver.nextDeadline, deadline <= now { receiver.timeElapsed(at: now) }
        while session.nextEvent() != nil {}
        let hear = hear
        receiver.play(until: now) { hear?($0, $1) }
    }

    private mutating func finish(_ isReturned: Bool, at now: Instant) {
        let hear = hear
        receiver.play(until: now) { hear?($0, $1) }
        let hasComeBack = isReturned && receiver.now != nil
        state = .over(hasComeBack ? .heard : session.sendStream.lastReceiverView == nil ? .unanswered : .reported)
        session.leave(at: now)
        guard isReturned else { return }
        farewell = LinkTestPacket(.farewell, clientNumber: clientNumber, serverNumber: serverNumber)
    }
}
