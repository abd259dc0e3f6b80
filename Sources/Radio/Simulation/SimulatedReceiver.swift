public import TenfourAudioCore
public import TenfourCallQuality
internal import TenfourJitterBuffer
public import TenfourPackets
public import TenfourRadio
public import TenfourSession

/// A receiver of one talker on a clock of its own: datagrams go in with the times at which they came, sound comes out.
///
/// Its card asks for 2.5 ms at a time, from the moment of the first packet on, and is never late. What it measures as delay
/// counts from when a packet was sent, as the transit of the fastest packet of all implies it.
public struct SimulatedReceiver: ~Copyable {
    private let ssrc: SSRC
    private var session: RTPSession
    private var buffer: JitterBuffer
    private var decoder: RadioDecoder
    private var origin: Instant?
    private var position = FrameCount.zero
    private var sound = [Float](repeating: 0, count: period.rawValue)
    private var transit = Transit()
    private var account = Account()

    public static let period = FrameCount(120)

    /// What a pull gave, beside the sound.
    public struct Pull: Sendable {
        /// Since the first packet came.
        public var elapsed: Duration
        /// What has been counted by then.
        public var counts: QualityCounts
    }

    /// Of the talker `ssrc`, whose packets have `payloadType`, or `redPayloadType` where copies are in them. `playout` says
    /// how deep the buffer may be; its period is of no account. Says nothing to anybody.
    public init(
        of ssrc: SSRC, payloadType: UInt8 = RTPDefaults.opusPayloadType, redPayloadType: UInt8? = nil,
        playout: PlayoutSettings = .init()
    ) throws(RadioError) {
        var configuration = RTPSessionConfiguration(payloadType: payloadType, controlPort: .none)
        if let redPayloadType { configuration.lossProtection.redPayloadType = redPayloadType }
        let session = RTPSession(
            identity: Identity(ssrc: SSRC(~ssrc.rawValue)), configuration: configuration, at: .start)
        try self.init(of: ssrc, session: session, playout: playout)
    }

    /// With a station of the caller's, which may report and ask for what is lost: its datagrams and deadlines are to be seen to.
    public init(of ssrc: SSRC, session: consuming RTPSession, playout: PlayoutSettings = .init()) throws(RadioError) {
        self.ssrc = ssrc
        var configuration = playout.jitterBuffer(period: Self.period, .opus, session.configuration.lossProtection)
        // No thread wakes late here.
        configuration.margin = Self.period
        let decoding = DecoderConfiguration(playout.decoder)
        let decoder = try RadioDecoder(decoding)
        let buffer = try Self.buffer(configuration)
        self.decoder = decoder
        self.buffer = buffer
        self.session = session
        self.session.setConcealment(decoding.concealment)
    }

    private static func buffer(_ configuration: PlayoutConfiguration) throws(RadioError) -> JitterBuffer {
        do { return try JitterBuffer(format: .mono, configuration: configuration) } catch { throw RadioError(error) }
    }

    /// When sound is asked for next; nil before the first packet.
    public var now: Instant? { origin.map { $0 + position.duration() } }

    /// A datagram has come. Those of one moment come before the sound of that moment is asked for.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at instant: Instant) {
        if let deadline = session.nextDeadline, deadline <= instant { session.timeElapsed(at: instant) }
        let reception = session.receive(datagram, from: sender, at: instant)
        if case .media(let packet) = reception, packet.ssrc == ssrc { take(packet, of: datagram, at: instant) }
        settle()
    }

    /// As of `RTPSession`.
    public var nextDeadline: Instant? { session.nextDeadline }

    /// As of `RTPSession`.
    public mutating func timeElapsed(at instant: Instant) {
        session.timeElapsed(at: instant)
        settle()
    }

    /// As of `RTPSession`.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        session.nextDatagram(into: &buffer)?.endpoint
    }

    /// Plays what is due before `instant`; nothing before the first packet.
    public mutating func play(until instant: Instant, hear: (Span<Float>, Pull) throws -> Void) rethrows {
        guard let origin else { return }
        while origin + position.duration() < instant { try pull(hear) }
    }

    /// Plays to the end what has come: until it is silent.
    public mutating func finish(hear: (Span<Float>, Pull) throws -> Void) rethrows {
        guard let origin else { return }
        let end = origin + position.duration() + .seconds(30)
        var isSilent = false
        while !(isSilent && buffer.isIdle), origin + position.duration() < end { isSilent = try !pull(hear) }
    }

    /// How it went.
    public func report() -> QualityReport { account.report(of: ssrc, transit, finally: counts) }

    // MARK: -

    private mutating func take(_ packet: MediaPacket, of datagram: Span<UInt8>, at instant: Instant) {
        if origin == nil {
            origin = instant
            buffer.begin(ssrc)
        }
        guard let origin else { return }
        let arrival = FrameCount(instant - origin)
        for index in 0..<packet.copyCount { insert(packet.copy(index), of: datagram, arrivedAt: arrival) }
        insert(packet, of: datagram, arrivedAt: arrival)
        guard let source = session.sources.first(where: { $0.ssrc == ssrc }) else { return }
        account.reception = source.reception
        account.isPlayable = !source.looksEncrypted
        account.retransmittedCount = source.recovery.retransmittedCount
        buffer.setRecoveryDemand(RecoveryDemand(source.repair))
    }

    private mutating func insert(_ packet: MediaPacket, of datagram: Span<UInt8>, arrivedAt arrival: FrameCount) {
        var incoming = IncomingPacket()
        incoming.set(packet, of: datagram, arrivedAt: .start + arrival.duration())
        let before = buffer.statistics
        buffer.insert(incoming, arrivedAt: arrival)
        let after = buffer.statistics
        guard packet.origin == .original, after.discarded == before.discarded else { return }
        transit.insert(packet.timestamp, at: arrival, beginsAnew: after.resyncs > before.resyncs)
    }

    private mutating func settle() {
        while let event = session.nextEvent() {
            guard case .sourceLeft(ssrc, _) = event else { continue }
            var goodbye = IncomingPacket()
            goodbye.set(.goodbye, of: ssrc)
            buffer.insert(goodbye, arrivedAt: position)
        }
    }

    /// Returns whether there was anything to be heard.
    @discardableResult
    private mutating func pull(_ hear: (Span<Float>, Pull) throws -> Void) rethrows -> Bool {
        let decoded = buffer.statistics.decoded
        let isHeard = Self.pull(&buffer, &decoder, into: &sound, at: position)
        session.playoutDelay(of: ssrc, is: buffer.statistics.delay.duration())
        let pull = Pull(elapsed: position.duration(), counts: counts)
        let statistics = pull.counts.playout
        account.look(at: pull.elapsed, pull.counts)
        if statistics.decoded > decoded {
            account.samples.append((pull.elapsed, buffer.playoutDelay, statistics.resyncs))
        }
        position += Self.period
        try hear(sound.span, pull)
        return isHeard
    }

    private static func pull(
        _ buffer: inout JitterBuffer, _ decoder: inout RadioDecoder, into sound: inout [Float], at position: FrameCount
    ) -> Bool {
        var room = sound.mutableSpan
        if buffer.pull(into: &room, at: position, with: &decoder) { return true }
        for index in room.indices { room[index] = 0 }
        return false
    }

    private var counts: QualityCounts { account.counts(buffer.statistics) }
}

/// The least that a packet took from its timestamp to its arrival, for each time that the timestamps began anew.
private struct Transit {
    private(set) var least: [FrameCount] = []
    private var newest: (timestamp: RTPTimestamp, place: FrameCount)?

    /// `arrival` counts from the first packet. Places are those of the lane: from the first timestamp on.
    mutating func insert(_ timestamp: RTPTimestamp, at arrival: FrameCount, beginsAnew: Bool) {
        var place = FrameCount(Int(timestamp.rawValue))
        if let newest, !beginsAnew {
            let step = timestamp.distance(after: newest.timestamp)
            place = newest.place + step
            if step > .zero { self.newest = (timestamp, place) }
            least[least.count - 1] = min(least[least.count - 1], arrival - place)
        } else {
            newest = (timestamp, place)
            least.append(arrival - place)
        }
    }
}

/// What is kept of a run until it is over: only then is it known which packet was the fastest.
private struct Account {
    var reception: ReceptionStatistics?
    /// Packets that came because they were asked for.
    var retransmittedCount = 0
    var isPlayable = true
    /// When the card asked, how far the sound then lay behind its timestamps, and how often these had begun anew.
    var samples: [(elapsed: Duration, depth: FrameCount, restarts: Int)] = []

    private var observations: [(elapsed: Duration, counts: QualityCounts)] = []
    private var last: (elapsed: Duration, counts: QualityCounts)?

    func counts(_ playout: PlayoutStatistics) -> QualityCounts {
        guard let reception else { return QualityCounts(playout: playout) }
        let unique = reception.receivedCount - reception.duplicateCount
        return QualityCounts(
            expected: reception.expectedCount, lost: reception.expectedCount - unique + retransmittedCount,
            lossRuns: reception.losses.runCount, jitter: reception.jitter.duration(), isPlayable: isPlayable,
            playout: playout)
    }

    /// Keeps the last counts of each second.
    mutating func look(at elapsed: Duration, _ counts: QualityCounts) {
        if let last, last.elapsed.components.seconds < elapsed.components.seconds { observations.append(last) }
        last = (elapsed, counts)
    }

    func report(of ssrc: SSRC, _ transit: Transit, finally counts: QualityCounts) -> QualityReport {
        let observations = observations + (last.map { [($0.elapsed, counts)] } ?? [])
        var meter = QualityMeter(keepsSeconds: true)
        var next = 0
        for observation in observations {
            while next < samples.count, samples[next].elapsed <= observation.elapsed {
                let sample = samples[next]
                next += 1
                guard sample.restarts < transit.least.count else { continue }
                let delay = sample.depth - transit.least[sample.restarts]
                meter.observe(delay: delay.duration(), of: ssrc, at: sample.elapsed)
            }
            meter.observe(observation.counts, of: ssrc, at: observation.elapsed)
        }
        return meter.report
    }
}
