internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

/// Answers NACKs (RFC 4585 section 6.2.1) with the original datagrams, within these limits:
///
/// | scope | limit |
/// |---|---|
/// | all receivers | 100 NACKs a second, bursts of 50; 1000 packets a second, bursts of 500 |
/// | each packet | 8 retransmissions; to the same remote at most once in 0.8 round trips, and at most once in 10 ms |
/// | all bytes | media and retransmissions together: 1.15 times the media's bit rate, saved for up to two seconds |
///
/// Packets requested beyond a limit are counted as refused.
struct Retransmitter: Sendable {
    private var datagrams = SentDatagrams()
    private var nacks = TokenBucket(perSecond: 100, most: 50)
    private var numbers = TokenBucket(perSecond: 1_000, most: 500)
    private var bytes: TokenBucket

    /// The number by which the media's bit rate is multiplied to limit media and retransmissions together.
    private static let bitRateFactor = 1.15
    /// The time, in seconds, for which unused bits are saved. They are needed because random loss comes in clusters of
    /// seconds.
    private static let savedSeconds = 2.0
    /// The number of saved bits at the start, as a proportion of the maximum. Some are saved from the start, because
    /// loss may begin before a report has reduced the encoder's bit rate.
    private static let initialShare = 0.75
    /// The maximum number of retransmissions of a packet.
    private static let maximumRetransmissionCount = 8
    /// The shortest time between two retransmissions of a packet to the same remote.
    private static let shortestInterval = Duration.milliseconds(10)

    /// Creates a retransmitter without datagrams. `bitRate` is the bit rate of the media, in bit/s.
    init(bitRate: Int) {
        let perSecond = Double(bitRate) / 8 * Self.bitRateFactor
        bytes = TokenBucket(perSecond: perSecond, most: perSecond * Self.savedSeconds, share: Self.initialShare)
    }

    mutating func setBitRate(_ bitRate: Int) { bytes.perSecond = Double(bitRate) / 8 * Self.bitRateFactor }

    /// Counts sent media against the limit of bytes.
    mutating func mediaSent(payloadByteCount: Int, at now: Instant) { bytes.charge(Double(payloadByteCount), at: now) }

    /// Keeps a datagram for retransmission.
    mutating func keep(_ number: SequenceNumber, _ datagram: Span<UInt8>, at now: Instant) {
        datagrams.keep(number, datagram, at: now)
    }

    /// Removes all datagrams. Call it after a change of the SSRC.
    mutating func removeAll() { datagrams.removeAll() }

    /// Returns the requested datagrams to send again. `remote` is the index of the remote that sent the NACK, and
    /// `roundTrip` the round trip to this remote, nil if unknown.
    mutating func retransmit(
        _ nack: GenericNACK, to remote: Int, roundTrip: Duration?, counting counts: inout RetransmissionCounts,
        at now: Instant
    ) -> [[UInt8]] {
        guard nacks.spend(1, at: now), numbers.spend(Double(nack.sequenceNumbers.count), at: now) else {
            counts.refusedCount += nack.sequenceNumbers.count
            return []
        }
        var due: [[UInt8]] = []
        let interval = max((roundTrip ?? .zero) * 4 / 5, Self.shortestInterval)
        for number in nack.sequenceNumbers {
            guard let entry = datagrams.entry(number, at: now) else {
                counts.unknownCount += 1
                continue
            }
            let isTooSoon = entry.lastRemote == remote && entry.lastRetransmission.map { now - $0 < interval } ?? false
            let payloadByteCount = entry.byteCount - RTPHeader.byteCount
            guard !isTooSoon, entry.retransmittedCount < Self.maximumRetransmissionCount,
                bytes.spend(Double(payloadByteCount), at: now)
            else {
                counts.refusedCount += 1
                continue
            }
            datagrams.recordRetransmission(of: number, to: remote, at: now)
            counts.retransmittedCount += 1
            counts.byteCount += payloadByteCount
            due.append(datagrams.datagram(entry))
        }
        return due
    }
}

/// Counts of retransmissions of our stream since its beginning.
public struct RetransmissionCounts: Hashable, Sendable {
    /// The number of NACKs received for our stream.
    public var nackCount = 0
    /// The number of retransmitted packets.
    public var retransmittedCount = 0
    /// The number of payload bytes in the retransmitted packets.
    public var byteCount = 0
    /// The number of requested packets that were never sent or are no longer kept.
    public var unknownCount = 0
    /// The number of requested packets that were not retransmitted. Either a limit was reached, or the NACK arrived
    /// from an address that is not a configured remote.
    public var refusedCount = 0

    public init() {}
}
