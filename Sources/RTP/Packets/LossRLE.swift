/// Which packets of a source came and which did not, run by run (the loss RLE block of an extended report, RFC 3611
/// section 4.1).
///
/// Kept as the chunks that the wire has, since runs are cheap to count and hostile ones expensive to spread out.
public struct LossRLE: Hashable, Sendable {
    /// On whom.
    public var source: SSRC
    /// Only each 2ⁿ-th packet is told of: 0…15. We tell of all, with 0.
    public var thinning: UInt8
    /// The first packet told of, and the one behind the last.
    public var first: SequenceNumber
    public var end: SequenceNumber
    /// Ends, where their number would be odd, in an empty one.
    public private(set) var chunks: [UInt16]

    static let blockType: UInt8 = 1
    /// Packets that one vector tells of, and the most that one run does.
    private static let vectorLength = 15
    private static let maximumRunLength = 0x3FFF

    /// Of `count` packets from `first` on; `came` says for each, by its place among them, whether it came. At most 65 534.
    public init(source: SSRC, first: SequenceNumber, count: Int, came: (Int) -> Bool) {
        precondition((0...65_534).contains(count), "sequence numbers tell so many packets apart")
        self.source = source
        thinning = 0
        self.first = first
        end = first.advanced(by: count)
        chunks = []
        var place = 0
        while place < count {
            var length = 1
            while place + length < count, length < Self.maximumRunLength, came(place + length) == came(place) {
                length += 1
            }
            if length >= Self.vectorLength {
                chunks.append((came(place) ? 0x4000 : 0) | UInt16(length))
                place += length
            } else {
                var vector: UInt16 = 0x8000
                for bit in 0..<Self.vectorLength where place + bit < count && came(place + bit) {
                    vector |= 0x4000 >> UInt16(bit)
                }
                chunks.append(vector)
                place += Self.vectorLength
            }
        }
        if !chunks.count.isMultiple(of: 2) { chunks.append(0) }
    }

    /// How many packets it tells of: 0…65 535.
    public var count: Int { Int(end.rawValue &- first.rawValue) }

    /// Calls `body` with each stretch of packets that came, or did not, in order; two that follow each other may be alike.
    public func forEachRun(_ body: (_ came: Bool, _ length: Int) -> Void) {
        var left = count
        for chunk in chunks where left > 0 {
            if chunk & 0x8000 == 0 {
                let length = min(Int(chunk & 0x3FFF), left)
                if length > 0 { body(chunk & 0x4000 != 0, length) }
                left -= length
            } else {
                for bit in 0..<min(Self.vectorLength, left) { body(chunk & 0x4000 >> UInt16(bit) != 0, 1) }
                left -= min(Self.vectorLength, left)
            }
        }
    }

    /// How much was lost, and in how many bursts.
    public var summary: LossSummary {
        var summary = LossSummary()
        var wasLost = false
        forEachRun { came, length in
            summary.packetCount += length
            if !came {
                summary.lossCount += length
                if !wasLost { summary.burstCount += 1 }
            }
            wasLost = !came
        }
        return summary
    }
}

/// Losses among packets in a row.
public struct LossSummary: Hashable, Sendable {
    public var packetCount = 0
    public var lossCount = 0
    /// Losses with nothing received between them are one burst.
    public var burstCount = 0

    public init() {}

    /// 0…1.
    public var share: Double { packetCount > 0 ? Double(lossCount) / Double(packetCount) : 0 }
    /// Losses in a row, on average: 1 and more; 0 without loss.
    public var meanBurstLength: Double { burstCount > 0 ? Double(lossCount) / Double(burstCount) : 0 }
}

extension LossRLE {
    /// Of the block alone.
    var byteCount: Int { 12 + 2 * chunks.count }

    func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(Self.blockType)
        datagram.append(thinning & 0x0F)
        datagram.append(bigEndian: UInt16(byteCount / 4 - 1))
        datagram.append(bigEndian: source.rawValue)
        datagram.append(bigEndian: first.rawValue)
        datagram.append(bigEndian: end.rawValue)
        for chunk in chunks { datagram.append(bigEndian: chunk) }
    }

    /// The caller has checked that `byteCount` bytes, a multiple of four, are there. Nil where they are too few.
    init?(parsing datagram: Span<UInt8>, at start: Int, byteCount: Int) {
        guard byteCount >= 12 else { return nil }
        source = SSRC(datagram.uint32(at: start + 4))
        thinning = datagram[start + 1] & 0x0F
        first = SequenceNumber(rawValue: datagram.uint16(at: start + 8))
        end = SequenceNumber(rawValue: datagram.uint16(at: start + 10))
        chunks = stride(from: start + 12, to: start + byteCount, by: 2).map { datagram.uint16(at: $0) }
    }
}
