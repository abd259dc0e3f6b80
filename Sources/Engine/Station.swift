public import RTP
public import Sound

/// One end of a conversation: parses what comes, packetizes what goes, keeps account of both and reports (RTCP).
/// Opens no socket, reads no clock, starts no thread.
///
/// After each input, take datagrams until nil, then events until nil, then sleep until `nextDeadline`.
public struct Station: Sendable {
    /// Who sends to us, in the order in which they came.
    public internal(set) var sources: [Source] = []
    public internal(set) var transmission: Transmission
    public internal(set) var discards = DiscardCounts()
    /// Changes when another station turns out to use the same.
    public var ssrc: SSRC { identity.ssrc }

    var identity: Identity
    let configuration: StationConfiguration
    var schedule = ReportSchedule()
    /// When the next source may have to be forgotten.
    var sourceDeadline: Instant?
    var listeners = Listeners()
    var sentPackets = SentPackets()
    var outbox = Outbox()
    var events = EventQueue()
    var collisionCount = 0
    /// Whose turn it is to be reported on, where there are more sources than a report has blocks.
    var reportTurn = 0

    /// What became of a datagram.
    public enum Reception: Equatable, Sendable {
        case media(MediaPacket)
        case control
        case discarded(Discard)
    }

    /// Where a datagram is to go.
    public struct Destination: Hashable, Sendable {
        public var endpoint: Endpoint
        /// Through the socket for RTCP where that has one of its own.
        public var isControl: Bool
    }

    /// No datagram of ours is longer: what an Ethernet frame can carry, with room to spare for headers.
    public static let maximumDatagramByteCount = 1_500
    /// More senders than anybody can listen to at once.
    public static let maximumSourceCount = 64

    public init(identity: Identity, configuration: StationConfiguration, at now: Instant) {
        self.identity = identity
        self.configuration = configuration
        transmission = Transmission(identity)
        armReports(at: now)
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
        let header = RTPHeader(
            marker: startsTalkspurt, payloadType: configuration.payloadType,
            sequenceNumber: transmission.nextSequenceNumber,
            timestamp: transmission.firstTimestamp.advanced(by: position), ssrc: ssrc)
        sentPackets.insert(header)
        transmission.packetSent(header, payloadByteCount: payload.count, at: now)
        outbox.putMedia(header, payload, to: configuration.remotes)
    }

    /// `nextDeadline` has come. Earlier it does nothing.
    public mutating func timeElapsed(at now: Instant) {
        if let sourceDeadline, sourceDeadline <= now { removeGoneSources(at: now) }
        reportWhenDue(at: now)
    }

    /// Says good-bye to all who hear from us. Nothing else should follow.
    public mutating func leave(at now: Instant) { sayGoodbye(at: now) }

    // MARK: - Out

    /// Appends the next datagram to go out to `buffer`, which has room for 1500 bytes; nil when there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Destination? {
        outbox.next(into: &buffer)
    }

    public mutating func nextEvent() -> Event? { events.next() }

    /// When `timeElapsed` wants to be called at the latest.
    public var nextDeadline: Instant? {
        guard let report = schedule.deadline else { return sourceDeadline }
        return sourceDeadline.map { min($0, report) } ?? report
    }
}
