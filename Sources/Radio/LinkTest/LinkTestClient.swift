public import TenfourAudioCore
internal import TenfourCallQuality
internal import TenfourJitterBuffer
internal import TenfourPackets
public import TenfourRadio
public import TenfourSession
public import TenfourSimulation

/// Who asks for a radio check: greets the other end, speaks to it, hears what comes back, and tells how it went.
///
/// One that answers greetings sends all back, and both the speech and our own reports about it go round: losses are asked for
/// and mended as between two stations. Any other station is spoken to all the same, and what its reports say is the result.
///
/// After each input, take datagrams until nil, then sleep until `nextDeadline`.
public struct LinkTestClient: ~Copyable {
    public enum State: Hashable, Sendable {
        case greeting
        /// The other end sends all back, or is a station that knows no greeting.
        case speaking(isReturned: Bool)
        /// All has been said; what is on its way may still come.
        case waiting(isReturned: Bool)
        case over(Ending)
    }

    public enum Ending: Hashable, Sendable {
        case heard
        /// A station that reported.
        case reported
        /// Somebody else is asking there.
        case busy
        /// Nothing came back, and no report.
        case unanswered
    }

    public private(set) var state = State.greeting

    private let configuration: Configuration
    private let question: UInt64
    private var answer: UInt64 = 0
    private var hasAnswer = false
    private var session: RTPSession
    private let firstTimestamp: RTPTimestamp
    private var receiver: SimulatedReceiver
    private var speech: SpeechSource
    private let hear: ((Span<Float>, SimulatedReceiver.Pull) -> Void)?

    private let beginning: Instant
    private var nextGreeting: Instant?
    private var greetings: [LinkTestPacket] = []
    /// Is sent after all else, since the server returns nothing after it.
    private var farewell: LinkTestPacket?
    private var start = Instant.start
    private var packetCount = 0
    /// What was done against loss for the packet that was sent last: afterwards nothing is lost any more.
    private var lastDefence: LossProtection
    private var transits = DelaySamples()

    /// What is asked of whom.
    public struct Configuration: Sendable {
        public var host: Endpoint
        /// 48 kHz mono.
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

    private static let greetingInterval = Duration.milliseconds(200)
    /// For a first answer, over a satellite and back.
    private static let patience = Duration.seconds(2)
    /// For what is on its way at the end.
    private static let grace = Duration.seconds(2)
    private static let packetDuration = Duration.milliseconds(20)

    /// `identity` is the speaker's; the listener's follows from it. `hear` is given the sound that comes back.
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
        lastDefence = self.session.lossProtection
        firstTimestamp = identity.firstTimestamp
        question = identity.seed
        beginning = now
        nextGreeting = now
    }

    // MARK: - In

    /// Takes in a datagram.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        // Reports may come from another port of the host.
        guard sender.address == configuration.host.address else { return }
        if let greeting = LinkTestPacket(parsing: datagram) { return take(greeting, at: now) }
        guard case .greeting = state else { return hear(datagram, from: sender, at: now) }
    }

    /// `nextDeadline` has come. Earlier it does nothing.
    public mutating func timeElapsed(at now: Instant) {
        switch state {
        case .greeting: greet(at: now)
        case .speaking(let isReturned): speak(isReturned, at: now)
        case .waiting(let isReturned):
            if start + configuration.duration + Self.grace <= now { end(isReturned, at: now) }
        case .over: return
        }
        attend(at: now)
    }

    /// Ends it early; what has come by then is the result.
    public mutating func stop(at now: Instant) {
        switch state {
        case .greeting: state = .over(.unanswered)
        case .speaking(let isReturned), .waiting(let isReturned): end(isReturned, at: now)
        case .over: break
        }
    }

    // MARK: - Out

    /// Appends the next datagram, which goes to the host, to `buffer`, which has room for 1500 bytes; false when there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Bool {
        if !greetings.isEmpty {
            greetings.removeFirst().write(into: &buffer)
            return true
        }
        let isReturned: Bool
        switch state {
        case .greeting: return false
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

    /// When `timeElapsed` wants to be called at the latest; nil when it is over.
    public var nextDeadline: Instant? {
        let own: Instant
        switch state {
        case .greeting: return nextGreeting
        case .speaking: own = nextPacket
        case .waiting: own = start + configuration.duration + Self.grace
        case .over: return nil
        }
        return [session.nextDeadline, receiver.nextDeadline].reduce(own) { min($0, $1 ?? $0) }
    }

    /// How it went, once it is over.
    public var result: LinkTestResult {
        let isReturned = state == .over(.heard)
        var quality = isReturned ? receiver.report() : nil
        // Who hears itself is told of it by no report.
        if let away = transits.quantile(0) { quality?.setRoundTrip(away) }
        return LinkTestResult(
            sentCount: packetCount, quality: quality,
            roundTrip: isReturned ? transits : nil, view: isReturned ? nil : session.sendStream.lastReceiverView,
            lossProtection: lastDefence, bitRate: configuration.coding.bitRate,
            maximumDepth: configuration.lossProtection.maximumDepth)
    }

    // MARK: - Greeting

    private mutating func greet(at now: Instant) {
        guard let nextGreeting, nextGreeting <= now else { return }
        guard now - beginning < Self.patience else { return begin(isReturned: false, at: now) }
        greetings.append(
            hasAnswer
                ? LinkTestPacket(.confirmation, question: question, answer: answer)
                : LinkTestPacket(.hello, question: question))
        self.nextGreeting = now + Self.greetingInterval
    }

    private mutating func take(_ greeting: LinkTestPacket, at now: Instant) {
        guard case .greeting = state, greeting.question == question else { return }
        switch greeting.kind {
        case .challenge where !hasAnswer:
            (answer, hasAnswer) = (greeting.answer, true)
            nextGreeting = now
            greet(at: now)
        case .acceptance where hasAnswer && greeting.answer == answer: begin(isReturned: true, at: now)
        case .refusal where hasAnswer && greeting.answer == answer: state = .over(.busy)
        default: break
        }
    }

    private mutating func begin(isReturned: Bool, at now: Instant) {
        state = .speaking(isReturned: isReturned)
        start = now
        nextGreeting = nil
    }

    // MARK: - Speaking

    private var nextPacket: Instant { start + Self.packetDuration * (packetCount + 1) }

    private mutating func speak(_ isReturned: Bool, at now: Instant) {
        while nextPacket <= now, nextPacket <= start + configuration.duration {
            let lossProtection = session.lossProtection
            lastDefence = lossProtection
            let packet = speech.next(
                bitRate: lossProtection.bitRate, inBandFEC: lossProtection.inBandFEC,
                expectedLoss: lossProtection.expectedLoss)
            let position = FrameCount(packetCount * SpeechSource.frameCount.rawValue)
            session.send(packet.span, at: position, startsTalkspurt: packetCount == 0, now: now)
            packetCount += 1
            // One at a time: the station keeps no more.
            return
        }
        if nextPacket > start + configuration.duration { state = .waiting(isReturned: isReturned) }
    }

    private mutating func hear(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        attend(at: now)
        measure(datagram, at: now)
        _ = session.receive(datagram, from: sender, at: now)
        receiver.receive(datagram, from: sender, at: now)
        while session.nextEvent() != nil {}
    }

    /// How long the packet was away. Resends count as well, and show: they were away longer.
    private mutating func measure(_ datagram: Span<UInt8>, at now: Instant) {
        guard datagram.count >= 2, !RTCPCompound.isRTCP(secondByte: datagram[1]),
            let header = try? RTPHeader(parsing: datagram), header.ssrc == session.ssrc
        else { return }
        let frames = header.timestamp.distance(after: firstTimestamp) + SpeechSource.frameCount
        let transit = now - (start + frames.duration())
        if transit >= .zero { transits.add(transit) }
    }

    /// Sees to what is due at both stations, and plays what is due.
    private mutating func attend(at now: Instant) {
        if let deadline = session.nextDeadline, deadline <= now { session.timeElapsed(at: now) }
        if let deadline = receiver.nextDeadline, deadline <= now { receiver.timeElapsed(at: now) }
        while session.nextEvent() != nil {}
        let hear = hear
        receiver.play(until: now) { hear?($0, $1) }
    }

    private mutating func end(_ isReturned: Bool, at now: Instant) {
        let hear = hear
        receiver.play(until: now) { hear?($0, $1) }
        let hasComeBack = isReturned && receiver.now != nil
        state = .over(hasComeBack ? .heard : session.sendStream.lastReceiverView == nil ? .unanswered : .reported)
        session.leave(at: now)
        if isReturned { farewell = LinkTestPacket(.farewell, question: question, answer: answer) }
    }
}
