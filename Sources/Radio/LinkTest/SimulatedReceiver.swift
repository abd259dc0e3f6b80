public import TenfourAudioCore
public import TenfourCallQuality
internal import TenfourJitterBuffer
public import TenfourPackets
public import TenfourRadio
public import TenfourSession

/// A receiver of one talker on a simulated clock: datagrams go in with their arrival times, decoded audio comes out.
///
/// The receiver pulls 2.5 ms of audio at a time, beginning with the arrival of the first packet, and never late. The
/// reported delays count from the time at which a packet was sent; this time is computed from the smallest transit time
/// of all packets.
public struct SimulatedReceiver: ~Copyable {
    private let ssrc: SSRC
    private var session: RTPSession
    private var buffer: JitterBuffer
    private var decoder: RadioDecoder
    private var origin: Instant?
    private var position = FrameCount.zero
    private var sound = [Float](repeating: 0, count: period.rawValue)
    private var transit = Transit()
    private var recordedRun = RecordedRun()
    /// The events about mistakes of the talker's sender: a wrong clock, a shared SSRC, missing pacing. At most 16.
    public private(set) var senderMistakes: [Event] = []

    /// The duration of a pull: 2.5 ms at 48 000 Hz.
    public static let period = FrameCount(120)

    /// The state of the receiver at a pull.
    public struct Pull: Sendable {
        /// The time since the first packet arrived.
        public var elapsed: Duration
        /// The counts at the time of the pull.
        public var counts: QualityCounts
    }

    /// Creates a receiver of the talker `ssrc`, whose packets have `payloadType`, `redPayloadType` if they contain
    /// copies, or a payload type of G.711. `playout` sets the playout delay; its period is ignored. The receiver sends
    /// nothing.
    public init(
        of ssrc: SSRC, payloadType: UInt8 = RTPDefaults.opusPayloadType, redPayloadType: UInt8? = nil,
        playout: PlayoutSettings = .init()
    ) throws(RadioError) {
        var configuration = RTPSessionConfiguration(payloadType: payloadType, controlPort: .none)
        configuration.acceptStaticPayloadTypes()
        if let redPayloadType { configuration.lossProtection.redPayloadType = redPayloadType }
        let session = RTPSession(
            identity: Identity(ssrc: SSRC(~ssrc.rawValue)), configuration: configuration, at: .start)
        try self.init(of: ssrc, session: session, playout: playout)
    }

    /// Creates a receiver with the caller's session, which may send reports and NACKs. The caller must send the
    /// datagrams that `nextDatagram` returns, and call `timeElapsed` at `nextDeadline`.
    public init(of ssrc: SSRC, session: consuming RTPSession, playout: PlayoutSettings = .init()) throws(RadioError) {
        self.ssrc = ssrc
        var configuration = playout.jitterBuffer(period: Self.period, .opus, session.configuration.lossProtection)
        // Sets the margin to a single period, because no thread of the simulation wakes up late.
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

    /// The time of the next pull; nil before the first packet.
    public var now: Instant? { origin.map { $0 + position.duration() } }

    /// Processes a datagram that arrived at `instant`. Call `play` with the same instant first, so that the audio due
    /// before the arrival is pulled before it.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at instant: Instant) {
        if let deadline = session.nextDeadline, deadline <= instant { session.timeElapsed(at: instant) }
        let reception = session.receive(datagram, from: sender, at: instant)
        if case .media(let packet) = reception, packet.ssrc == ssrc { insertMedia(packet, of: datagram, at: instant) }
        if case .comfortNoise(let noise, let begin, ssrc) = reception { buffer.setComfortNoise(noise, after: begin) }
        handleEvents()
    }

    /// The latest time at which `timeElapsed` must be called; nil if no work is due. See `RTPSession.nextDeadline`.
    public var nextDeadline: Instant? { session.nextDeadline }

    /// Does the work of the RTP session that is due at `nextDeadline`. See `RTPSession.timeElapsed`.
    public mutating func timeElapsed(at instant: Instant) {
        session.timeElapsed(at: instant)
        handleEvents()
    }

    /// Appends the next datagram of the RTP session to `buffer`, and returns its destination; nil if there is none. See
    /// `RTPSession.nextDatagram`.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        session.nextDatagram(into: &buffer)?.endpoint
    }

    /// Pulls the audio that is due before `instant` and passes it to `hear`, 2.5 ms at a time; nothing before the first
    /// packet.
    public mutating func play(until instant: Instant, hear: (Span<Float>, Pull) throws -> Void) rethrows {
        guard let origin else { return }
        while origin + position.duration() < instant { try pull(hear) }
    }

    /// Pulls the rest of the received audio and passes it to `hear`: until the buffer is silent and idle, or for 30
    /// seconds.
    public mutating func finish(hear: (Span<Float>, Pull) throws -> Void) rethrows {
        guard let origin else { return }
        buffer.endComfortNoise()
        let end = origin + position.duration() + .seconds(30)
        var isSilent = false
        while !(isSilent && buffer.isIdle), origin + position.duration() < end { isSilent = try !pull(hear) }
    }

    /// Returns the report on the whole run.
    public func report() -> QualityReport { recordedRun.report(of: ssrc, transit, finally: counts) }

    // MARK: - Datagrams and pulls

    private mutating func insertMedia(_ packet: MediaPacket, of datagram: Span<UInt8>, at instant: Instant) {
        if origin == nil {
            origin = instant
            buffer.begin(ssrc)
        }
        guard let origin else { return }
        let arrival = FrameCount(instant - origin)
        for index in 0..<packet.copyCount { insert(packet.copy(index), of: datagram, arrivedAt: arrival) }
        insert(packet, of: datagram, arrivedAt: arrival)
        guard let source = session.sources.first(where: { $0.ssrc == ssrc }) else { return }
        recordedRun.update(source.reception)
        recordedRun.isPlayable = !source.looksEncrypted
        recordedRun.retransmittedCount = source.recovery.retransmittedCount
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

    private mutating func handleEvents() {
        while let event = session.nextEvent() {
            switch event {
            case .sourceLeft(ssrc, _):
                var goodbye = IncomingPacket()
                goodbye.set(.goodbye, of: ssrc)
                buffer.insert(goodbye, arrivedAt: position)
            case .sourceClockIsWrong(ssrc, _), .sourcesCollide(ssrc, _, _), .sourceSendsTooFast(ssrc, _):
                if senderMistakes.count < 16 { senderMistakes.append(event) }
            default: break
            }
        }
    }

    /// Pulls one period and passes it to `hear`. Returns whether the period contains audio; if not, it is silence.
    @discardableResult
    private mutating func pull(_ hear: (Span<Float>, Pull) throws -> Void) rethrows -> Bool {
        let decoded = buffer.statistics.decoded
        let isHeard = Self.pull(&buffer, &decoder, into: &sound, at: position)
        session.playoutDelay(of: ssrc, is: buffer.statistics.delay.duration())
        let pull = Pull(elapsed: position.duration(), counts: counts)
        let statistics = pull.counts.playout
        recordedRun.record(at: pull.elapsed, pull.counts)
        if statistics.decoded > decoded {
            recordedRun.samples.append((pull.elapsed, buffer.playoutDelay, statistics.resyncs))
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

    private var counts: QualityCounts { recordedRun.counts(buffer.statistics) }
}

/// The smallest transit times of the packets, from timestamp to arrival: one for each section of the stream between two
/// resynchronizations.
private struct Transit {
    private(set) var least: [FrameCount] = []
    private var newest: (timestamp: RTPTimestamp, place: FrameCount)?

    /// Adds a packet. `arrival` counts from the first packet. `beginsAnew` is true if the stream was resynchronized at
    /// this packet.
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

/// The values that are collected during a run for its report. The delays are computed at the end, because only then the
/// smallest transit time is known.
private struct RecordedRun {
    private var reception: ReceptionStatistics?
    /// The counts before the talker last restarted with other sequence numbers.
    private var earlier = (expected: 0, received: 0, lossRuns: 0)
    /// The number of packets that arrived as retransmissions, after a request.
    var retransmittedCount = 0
    var isPlayable = true
    /// For each pull that decoded audio: its time, the delay of playout behind the talker's timestamps, and the number
    /// of resynchronizations before it.
    var samples: [(elapsed: Duration, depth: FrameCount, restarts: Int)] = []

    private var observations: [(elapsed: Duration, counts: QualityCounts)] = []
    private var last: (elapsed: Duration, counts: QualityCounts)?

    /// Stores the reception of the talker's packets so far.
    mutating func update(_ reception: ReceptionStatistics) {
        if let before = self.reception,
            reception.restartCount != before.restartCount || reception.receivedCount < before.receivedCount
        {
            earlier.expected += before.expectedCount
            earlier.received += before.receivedCount - before.duplicateCount
            earlier.lossRuns += before.losses.runCount
        }
        self.reception = reception
    }

    func counts(_ playout: PlayoutStatistics) -> QualityCounts {
        guard let reception else { return QualityCounts(playout: playout) }
        let received = earlier.received + reception.receivedCount - reception.duplicateCount
        let expected = earlier.expected + reception.expectedCount
        return QualityCounts(
            expected: expected, lost: expected - received + retransmittedCount,
            lossRuns: earlier.lossRuns + reception.losses.runCount, jitter: reception.jitter.duration(),
            isPlayable: isPlayable, playout: playout)
    }

    /// Stores `counts`, in place of earlier counts of the same second.
    mutating func record(at elapsed: Duration, _ counts: QualityCounts) {
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
