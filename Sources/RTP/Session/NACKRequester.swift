internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

/// Decides which lost packets to request from their senders (generic NACK, RFC 4585 section 6.2.1), and when.
///
/// These limits bound the cost of a burst of loss, or of a sender with false sequence numbers:
///
/// | scope | limit |
/// |---|---|
/// | each source | 128 missing packets at a time |
/// | each packet | one request per round trip, at least 12 ms apart, until a retransmission would come too late |
/// | all sources | 50 NACKs a second, bursts of 10; 6000 bytes a second, bursts of 3000 |
/// | each NACK | 64 packets |
/// | a sender that has ignored 24 requests | one NACK in two seconds |
struct NACKRequester: Sendable {
    /// The next time at which a source must be polled; nil while no packet of any source is missing.
    private(set) var deadline: Instant?
    /// Limits the number of NACKs to all sources together.
    private var nacks = TokenBucket(perSecond: 50, most: 10)
    /// Limits the number of bytes in NACKs to all sources together.
    private var bytes = TokenBucket(perSecond: 6_000, most: 3_000)

    private static let maximumNumberCount = 64
    /// The pause after the limit of NACKs per second was reached.
    private static let pause = Duration.milliseconds(20)

    /// Updates the loss state of a source and the playout delay that it needs. Returns the packets to request now, in
    /// order of their sequence numbers.
    mutating func poll(
        _ source: inout Source, _ configuration: RTPSessionConfiguration, at now: Instant
    ) -> [SequenceNumber] {
        let requests = Self.requests(from: source, configuration)
        let limit = configuration.lossProtection.depth(roundTrip: source.roundTrip)
        let playing = source.trace.playoutDelay ?? limit
        // Allows a first NACK whose retransmission comes too late, because it measures the round trip.
        let depth = source.roundTrip == nil ? max(playing, limit) : playing
        source.trace.review(depth: max(depth, limit), asks: requests, at: now)
        let numbers = requests ? dueNumbers(of: &source, depth: depth, at: now) : []
        source.recordRetransmissions()
        source.trace.adviseDepth(
            limit: limit, asks: requests, expectsLoss: Self.expectsLoss(from: source, configuration, at: now),
            concealment: configuration.lossProtection.concealment, at: now)
        return numbers
    }

    /// Returns whether a NACK of this size is within the byte limit; if so, it is counted.
    mutating func spend(byteCount: Int, at now: Instant) -> Bool { bytes.spend(Double(byteCount), at: now) }

    /// Recomputes `deadline`. Call it after any source has changed: the arrival of a packet cancels the request for it.
    mutating func updateDeadline(_ sources: [Source], _ configuration: RTPSessionConfiguration) {
        deadline = nil
        for index in sources.indices {
            let requests = Self.requests(from: sources[index], configuration)
            guard let next = sources[index].trace.nextDeadline(asks: requests) else { continue }
            deadline = min(deadline ?? next, next)
        }
    }

    private mutating func dueNumbers(of source: inout Source, depth: Duration, at now: Instant) -> [SequenceNumber] {
        guard source.trace.hasDueRequest(depth: depth, at: now) else {
            source.trace.postponeRequests(for: .seconds(2), at: now)
            return []
        }
        guard nacks.spend(1, at: now) else {
            source.trace.postponeRequests(for: Self.pause, at: now)
            return []
        }
        return source.trace.nextRequests(depth: depth, limit: Self.maximumNumberCount, at: now)
    }

    /// Whether the packets of a source are requested when they are lost.
    private static func requests(from source: Source, _ configuration: RTPSessionConfiguration) -> Bool {
        mayRequest(from: source, configuration)
            && (configuration.lossProtection.sourcesSupportNACK || source.capabilities?.supportsNACK ?? false)
    }

    private static func mayRequest(from source: Source, _ configuration: RTPSessionConfiguration) -> Bool {
        configuration.lossProtection.asksForLostPackets && !configuration.isGroup
            && configuration.controlPort != .none && source.goodbye == nil
    }

    /// Whether a source is to be treated as lossy before it has lost a packet. If the configuration demands it, this
    /// holds for the first five seconds of a source that may retransmit.
    private static func expectsLoss(
        from source: Source, _ configuration: RTPSessionConfiguration, at now: Instant
    ) -> Bool {
        configuration.lossProtection.expectsLoss && now - source.firstPacket < ArrivalTrace.memoryOfLoss
            && (requests(from: source, configuration)
                || source.capabilities == nil && mayRequest(from: source, configuration))
    }
}
