/// The quality of a stream at its receiver: loss, bursts, and delay (the VoIP metrics block of an extended report, RFC
/// 3611 section 4.7).
public struct VoIPMetrics: Hashable, Sendable {
    /// The source of the stream.
    public var source: SSRC
    /// The share of all packets since the beginning that were lost, in 1/256.
    public var lossRate: UInt8 = 0
    /// The share of all packets since the beginning that were discarded as late, in 1/256.
    public var discardRate: UInt8 = 0
    /// The share of packets lost or discarded within bursts, in 1/256.
    public var burstDensity: UInt8 = 0
    /// The share of packets lost or discarded within gaps, in 1/256. Gaps are the times between bursts.
    public var gapDensity: UInt8 = 0
    /// The mean duration of a burst, 0…65 s. Written in milliseconds.
    public var burstDuration = Duration.zero
    /// The mean duration of a gap, 0…65 s. Written in milliseconds.
    public var gapDuration = Duration.zero
    /// The round-trip time that the reporter measured, written in milliseconds.
    public var roundTrip = Duration.zero
    /// The delay within the reporter's own system, written in milliseconds.
    public var endSystemDelay = Duration.zero
    /// The number of packets received in a row that separates two bursts. If fewer packets are received between two
    /// losses, both losses belong to one burst (RFC 3611 section 4.7.2).
    public var minimumGap: UInt8 = 16
    /// The rating of ITU-T G.107, 0…100; nil if it is not known.
    public var rating: UInt8?
    /// The mean opinion score for listening only, in tenths of a point from 1 to 5; nil if it is not known.
    public var listeningQuality: UInt8?
    /// The mean opinion score for a conversation, in tenths of a point from 1 to 5; nil if it is not known.
    public var conversationalQuality: UInt8?
    /// The jitter buffer's present delay, written in milliseconds.
    public var nominalDelay = Duration.zero
    /// The jitter buffer's maximum delay, written in milliseconds.
    public var maximumDelay = Duration.zero

    static let blockType: UInt8 = 7
    private static let unknown: UInt8 = 127

    public init(source: SSRC) { self.source = source }

    /// The length of the block in bytes.
    static let byteCount = 36

    func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(Self.blockType)
        datagram.append(0)
        datagram.append(bigEndian: UInt16(Self.byteCount / 4 - 1))
        datagram.append(bigEndian: source.rawValue)
        for rate in [lossRate, discardRate, burstDensity, gapDensity] { datagram.append(rate) }
        for time in [burstDuration, gapDuration, roundTrip, endSystemDelay] {
            datagram.append(bigEndian: time.clampedMilliseconds)
        }
        // Writes signal level, noise level and echo return loss as unknown, because they are not measured.
        for _ in 0..<3 { datagram.append(Self.unknown) }
        datagram.append(minimumGap)
        datagram.append(rating ?? Self.unknown)
        datagram.append(Self.unknown)
        datagram.append(listeningQuality ?? Self.unknown)
        datagram.append(conversationalQuality ?? Self.unknown)
        // Writes the flags for enhanced concealment and for an adaptive jitter buffer.
        datagram.append(0b11_11_0000)
        datagram.append(0)
        for time in [nominalDelay, maximumDelay, maximumDelay] { datagram.append(bigEndian: time.clampedMilliseconds) }
    }
}

extension VoIPMetrics {
    /// Parses the block at `start`; the caller has checked that 36 bytes are there.
    init(parsing datagram: Span<UInt8>, at start: Int) {
        func known(_ offset: Int) -> UInt8? {
            let value = datagram[start + offset]
            return value == Self.unknown ? nil : value
        }
        func time(_ offset: Int) -> Duration { .milliseconds(Int(datagram.uint16(at: start + offset))) }
        self.init(source: SSRC(datagram.uint32(at: start + 4)))
        lossRate = datagram[start + 8]
        discardRate = datagram[start + 9]
        burstDensity = datagram[start + 10]
        gapDensity = datagram[start + 11]
        burstDuration = time(12)
        gapDuration = time(14)
        roundTrip = time(16)
        endSystemDelay = time(18)
        minimumGap = datagram[start + 23]
        rating = known(24)
        listeningQuality = known(26)
        conversationalQuality = known(27)
        nominalDelay = time(30)
        maximumDelay = time(32)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded down and limited to 0…65 535.
    fileprivate var clampedMilliseconds: UInt16 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 66 else { return .max }
        return UInt16(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}
