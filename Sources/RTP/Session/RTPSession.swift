public import TenfourAudioCore
public import TenfourPackets

/// One end of a conversation: parses what comes, packetizes what goes, keeps account of both and reports (RTCP).
/// Opens no socket, reads no clock, starts no thread.
///
/// After each input, take datagrams until nil, then events until nil, then sleep until `nextDeadline`.
public struct RTPSession: ~Copyable, Sendable {
    /// Who sends to us, in the order in which they came.
    public internal(set) var sources: [Source] = []
    public internal(set) var sendStream: SendStream
    public internal(set) var discards = DiscardCounts()
    /// Changes when another station turns out to use the same.
    public var ssrc: SSRC { identity.ssrc }
    /// What is done so that what is lost of our stream is not missed. The encoder follows its bit rate, in-band FEC and
    /// expected loss.
    public var lossProtection: LossProtection { choice.lossProtection }

    var identity: Identity
    /// As given at the beginning, with the present addresses of remotes that have moved.
    public internal(set) var configuration: RTPSessionConfiguration
    var schedule = ReportSchedule()
    /// When the next source may have to be forgotten.
    var sourceDeadline: Instant?
    var listeners = Listeners()
    var reporters = Reporters()
    /// New ones at addresses that nobody typed.
    var strangerAllowance = TokenBucket(perSecond: 0.5, most: 8)
    var sentPackets = SentPackets()
    var sentDatagrams = SentDatagrams()
    var recentPayloads = RecentPayloads()
    var outbox = Outbox()
    var events = EventQueue()
    /// When our SSRC was last given up for another station's.
    var lastCollision: Instant?
    /// Whose turn it is to be reported on, where there are more sources than a report has blocks.
    var reportTurn = 0

    /// When a source's losses have to be looked at, and when the defence of our stream.
    var questionDeadline: Instant?
    var decisionDeadline: Instant?
    var receivers = Receivers()
    var choice: LossProtectionSelector
    var bitRateLimit: BandwidthEstimate
    var redPayloadType: UInt8
    /// Of the bits beside copies: what the encoder is told.
    var encoderShare = 0.98
    /// What the datagram being read tells of how our stream arrives, and whether one who decides about it says so.
    var pendingReceiverView: (receiver: SSRC, view: ReceiverView)?
    var hasFreshReport = false
    /// It tells of abilities that were not known.
    var hasNewCapabilities = false
    /// Our clock as we told it last.
    var toldTimes: [ShortNTPTime] = []
    /// When a receiver last told of loss.
    var lastReportedLoss: Instant?
    var questions = TokenBucket(perSecond: questionsPerSecond, most: mostQuestions)
    var questionBytes = TokenBucket(perSecond: questionBytesPerSecond, most: mostQuestionBytes)
    var answerAllowance = TokenBucket(perSecond: answersPerSecond, most: mostAnswers)
    var numberAllowance = TokenBucket(perSecond: answeredNumbersPerSecond, most: mostAnsweredNumbers)
    var payloadAllowance: TokenBucket
    var resendAllowance: TokenBucket

    /// What became of a datagram.
    public enum Reception: Equatable, Sendable {
        case media(MediaPacket)
        case control
        case discarded(DiscardReason)

        public var isDiscarded: Bool { if case .discarded = self { true } else { false } }
    }

    /// Where a datagram is to go.
    public struct Destination: Hashable, Sendable {
        public var endpoint: Endpoint
        /// Through the socket for RTCP where that has one of its own.
        public var isControl: Bool

        public init(endpoint: Endpoint, isControl: Bool) {
            self.endpoint = endpoint
            self.isControl = isControl
        }
    }

    /// No datagram of ours is longer: what an Ethernet frame can carry, with room to spare for headers.
    public static let maximumDatagramByteCount = 1_500
    /// No packet of sound is longer, ours or another's: what an Ethernet frame can carry after IPv6, UDP and RTP.
    public static let maximumPayloadByteCount = 1_440
    /// More senders than anybody can listen to at once.
    public static let maximumSourceCount = 64

    public init(identity: Identity, configuration: RTPSessionConfiguration, at now: Instant) {
        self.identity = identity
        self.configuration = configuration
        sendStream = SendStream(identity)
        let bitRate = configuration.lossProtection.bitRate
        let bytesPerSecond = Double(bitRate) / 8
        choice = LossProtectionSelector(LossProtection(bitRate: bitRate))
        bitRateLimit = BandwidthEstimate(bitRate)
        redPayloadType = configuration.lossProtection.redPayloadType
        payloadAllowance = TokenBucket(
            perSecond: bytesPerSecond, most: bytesPerSecond * Self.savedSeconds, share: Self.savedShare)
        resendAllowance = TokenBucket(
            perSecond: bytesPerSecond * Self.bitRateWithResends,
            most: bytesPerSecond * Self.bitRateWithResends * Self.savedSecondsOfResends,
            share: Self.savedShareOfResends)
        armReports(at: now)
        decide(isFresh: false, at: now)
    }

    // MARK: - In

    /// Takes in a datagram that `sender` sent. Total: whatever its bytes, it is media, control, or counted and forgotten.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        let reception = read(datagram, from: sender, at: now)
        if case .discarded(let reason) = reception { discards.count(reason) }
        return reception
    }

    /// Queues one Opus packet of at most 1488 bytes to be sent. `position` is where its sound begins, counted from the start
    /// of our stream and through its silences; `startsTalkspurt` sets the marker.
    public mutating func send(
        _ payload: Span<UInt8>, at position: FrameCount, startsTalkspurt: Bool, now: Instant
    ) {
        precondition(
            RTPHeader.byteCount + payload.count <= Self.maximumDatagramByteCount, "a packet fits into one datagram")
        let copies = copies(beside: payload.count, at: position, startsTalkspurt: startsTalkspurt, now: now)
        let header = RTPHeader(
            marker: startsTalkspurt, payloadType: copies.isEmpty ? configuration.payloadType : redPayloadType,
            sequenceNumber: sendStream.nextSequenceNumber,
            timestamp: sendStream.firstTimestamp.advanced(by: position), ssrc: ssrc)
        putMedia(header, payload, with: copies, at: position)
        recentPayloads.insert(payload, at: position)
        if sendStream.packetCount == 0 { scheduleInitialReports(at: now) }
        let byteCount = outbox.media.count - RTPHeader.byteCount
        sentPackets.insert(header)
        sendStream.packetSent(header, payloadByteCount: byteCount, at: now)
        resendAllowance.charge(Double(byteCount), at: now)
        guard answers, !configuration.remotes.isEmpty else { return }
        let datagram = outbox.media
        sentDatagrams.keep(header.sequenceNumber, datagram.span, at: now)
    }

    /// `nextDeadline` has come. Earlier it does nothing.
    public mutating func timeElapsed(at now: Instant) {
        if let sourceDeadline, sourceDeadline <= now { removeGoneSources(at: now) }
        askWhenDue(at: now)
        decideWhenDue(at: now)
        reportWhenDue(at: now)
    }

    /// The partner's name leads somewhere else now: what we send goes to `remote`, and `accepted` are heard. Nothing is sent to
    /// the old address any more.
    public mutating func partnerMoved(to remote: Endpoint, accepting accepted: Set<IPAddress>, at now: Instant) {
        configuration.remotes = [remote]
        configuration.accepted = .only(accepted)
        expediteReport(at: now)
    }

    /// Says good-bye to all who hear from us. Nothing else should follow.
    public mutating func leave(at now: Instant) { sendGoodbye(at: now) }

    // MARK: - Out

    /// Appends the next datagram to go out to `buffer`, which has room for 1500 bytes; nil when there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Destination? {
        outbox.next(into: &buffer)
    }

    public mutating func nextEvent() -> Event? { events.next() }

    /// When `timeElapsed` wants to be called at the latest.
    public var nextDeadline: Instant? {
        earlier(earlier(schedule.deadline, sourceDeadline), earlier(questionDeadline, decisionDeadline))
    }
}

private func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
