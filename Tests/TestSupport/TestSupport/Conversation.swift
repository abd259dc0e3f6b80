public import TenfourAudioCore
public import TenfourJitterBuffer
public import TenfourNetworkEmulator
public import TenfourPackets
public import TenfourSession

/// A simulated call without the codec: sending sessions, bad links, a receiving session, a jitter buffer for each talker,
/// and a card that pulls audio. It runs on a clock that only the test moves.
public struct Conversation: ~Copyable {
    /// The simulated link. The last of its ends is the listener; all others are talkers.
    public var link: SimulatedLink
    /// The deviation of the listener's card clock in parts per million; above zero, the card runs slow.
    public var cardPartsPerMillion = 0.0

    private var ears: InlineArray<4, Ear>
    private var clock = CardClock()
    private var pulledCount = 0

    /// The length of one pull of the card: 5 ms.
    private static let period = FrameCount(240)
    /// The number of pulls between two updates of the playout delay.
    private static let pollInterval = 20

    /// Creates a call in which each talker sends to the listener.
    public init(
        talkers: [Identity], network: NetworkModel = NetworkModel(), seed: UInt64 = 1,
        _ configuration: PlayoutConfiguration = .init(), lossProtection: LossProtectionConfiguration = .init()
    ) {
        let listener = SimulatedLink.endpoint(talkers.count)
        let ends = talkers.indices.map {
            let configuration = RTPSessionConfiguration(remotes: [listener], lossProtection: lossProtection)
            return LinkEnd(
                RTPSession(identity: talkers[$0], configuration: configuration, at: .start), number: $0)
        }
        let ear = RTPSession(
            identity: Identity(ssrc: SSRC(1), seed: seed),
            configuration: RTPSessionConfiguration(lossProtection: lossProtection),
            at: .start)
        link = SimulatedLink(ends + [LinkEnd(ear, number: talkers.count)], network: network, seed: seed)
        for end in ends { end.speech = Speech() }
        ears = InlineArray { _ in Ear(configuration) }
    }

    /// Advances the clock until the card has pulled this duration.
    public mutating func run(seconds: Double) {
        let end = pulledCount + Int((seconds * 48e3 / Double(Self.period.rawValue)).rounded())
        while pulledCount < end {
            let frames = Double(pulledCount * Self.period.rawValue)
            let now = Instant.start + .nanoseconds(Int64(frames / 48e3 * (1 + cardPartsPerMillion * 1e-6) * 1e9))
            link.run(until: now)
            pull(at: now)
            pulledCount += 1
        }
    }

    /// Returns the numbers of the talker's packets that were played, in playing order.
    public func played(_ ssrc: SSRC) -> [Int] { log(of: ssrc).played }

    /// Returns the log of a talker's playout; it is empty for a talker that was not received.
    public func log(of ssrc: SSRC) -> PlayoutLog {
        for index in ears.indices where ears[index].ssrc == ssrc { return ears[index].log }
        return PlayoutLog()
    }

    public func statistics(of ssrc: SSRC) -> PlayoutStatistics {
        for index in ears.indices where ears[index].ssrc == ssrc { return ears[index].buffer.statistics }
        return PlayoutStatistics()
    }

    private mutating func pull(at now: Instant) {
        let lost = clock.request(at: now)
        precondition(lost == .zero, "a simulated card does not stand still")
        let listener = link.ends.count - 1
        for packet in link.ends[listener].heard { insert(packet) }
        link.ends[listener].heard.removeAll(keepingCapacity: true)
        if pulledCount.isMultiple(of: Self.pollInterval) { agreeOnDepth() }
        for index in ears.indices { ears[index].pull(Self.period, at: clock.position, now) }
        clock.advance(by: Self.period)
    }

    /// Passes the session's recovery demand to playout, and the playout delay to the session.
    private mutating func agreeOnDepth() {
        let listener = link.ends.count - 1
        for index in ears.indices {
            guard let source = link.ends[listener].session.sources.first(where: { $0.ssrc == ears[index].ssrc }) else {
                continue
            }
            let repair = source.repair
            ears[index].buffer.setRecoveryDemand(
                RecoveryDemand(
                    lookAhead: repair.lookAhead, retransmissionTime: repair.retransmissionTime, limit: repair.limit))
            link.ends[listener].session.playoutDelay(
                of: source.ssrc, is: ears[index].buffer.statistics.delay.duration())
        }
    }

    private mutating func insert(_ packet: HeardPacket) {
        var free: Int?
        for index in ears.indices {
            if ears[index].ssrc == packet.packet.ssrc {
                return ears[index].insert(packet, arrivedAt: clock.position(at: packet.at))
            }
            if free == nil, ears[index].ssrc == nil { free = index }
        }
        guard let free else { preconditionFailure("a conversation has at most four talkers") }
        ears[free].begin(packet.packet.ssrc)
        ears[free].insert(packet, arrivedAt: clock.position(at: packet.at))
    }
}

/// A log of one talker's packets in playout.
public struct PlayoutLog: Sendable {
    /// The numbers of the packets that the controller queued, in the order of their arrival.
    public var taken: [Int] = []
    /// The numbers of the packets played, in playing order, and the times at which they were pulled.
    public var played: [Int] = []
    public var playedAt: [Instant] = []
    /// The playout delay at each time in `playedAt`, in milliseconds.
    public var depths: [Float] = []
    public var concealed = FrameCount.zero
}

/// A jitter buffer, and the log of its inserted and decoded packets.
private struct Ear: ~Copyable {
    var ssrc: SSRC? { buffer.ssrc }
    var buffer: JitterBuffer
    private(set) var log = PlayoutLog()
    private var decoder = RecordingDecoder { Speech.frameCount(of: $0) }
    private var output: [Float] = []

    init(_ configuration: PlayoutConfiguration) {
        do {
            buffer = try JitterBuffer(format: .mono, configuration: configuration)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    mutating func begin(_ ssrc: SSRC) { buffer.begin(ssrc) }

    mutating func insert(_ heard: HeardPacket, arrivedAt arrival: FrameCount) {
        let packet = heard.packet
        switch buffer.insert(
            heard.payload.span,
            PacketInfo(
                sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
                frameCount: packet.description.frameCount, carriesFEC: false, origin: packet.origin),
            arrivedAt: arrival)
        {
        case .queued, .resynchronised: log.taken.append(heard.number)
        case .late, .skipped, .duplicate, .spare, .outlier, .refused: break
        }
    }

    mutating func pull(_ frames: FrameCount, at position: FrameCount, _ now: Instant) {
        guard ssrc != nil else { return }
        if output.isEmpty { output = [Float](repeating: 0, count: frames.rawValue) }
        _ = decoder.pull(frames.rawValue, from: &buffer, at: position, into: &output)
        for call in decoder.takeCalls() {
            switch call {
            case .conceal(let frames): log.concealed += frames
            case .recover: break
            case .decode(let payload):
                log.played.append(Speech.number(of: payload.span))
                log.playedAt.append(now)
                log.depths.append(Float(buffer.statistics.delay.rawValue) / 48)
            }
        }
    }
}
