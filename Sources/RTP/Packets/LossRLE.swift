/// The received and the lost packets of a source, as run lengths (the loss RLE block of an extended report, RFC 3611
/// section 4.1).
///
/// The runs are kept as chunks, which is their form on the wire. Counting runs is cheap; expanding the runs of a
/// hostile block would be expensive.
public struct LossRLE: Hashable, Sendable {
    /// The source whose packets are described.
    public var source: SSRC
    /// The exponent n of the thinning, 0…15: only every 2ⁿ-th packet is described. Our own reports describe all
    /// packets, with n = 0.
    public var thinning: UInt8
    /// The sequence number of the first packet described.
    public var first: SequenceNumber
    /// The sequence number of the packet after the last one described.
    public var end: SequenceNumber
    /// The chunks: runs and bit vectors. An empty chunk is added at the end to make their number even.
    public private(set) var chunks: [UInt16]

    static let blockType: UInt8 = 1
    /// The number of packets that a bit vector, one kind of chunk, describes.
    private static let vectorLength = 15
    /// The maximum number of packets that a run, the other kind of chunk, describes.
    private static let maximumRunLength = 0x3FFF

    /// Describes `count` packets from `first` on, at most 65 534. `came` takes the index of a packet, and returns
    /// whether the packet was received.
    public init(source: SSRC, first: SequenceNumber, count: Int, came: (Int) -> Bool) {
        precondition((0...65_534).contains(count), "there are more packets than sequence numbers")
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

    /// The number of packets described: 0…65 535.
    public var count: Int { Int(end.rawValue &- first.rawValue) }

    /// Calls `body` with each run of received or lost packets, in order. Two runs in a row may be of the same kind.
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

    /// The number of losses and the number of bursts.
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

/// The losses in a sequence of packets.
public struct LossSummary: Hashable, Sendable {
    public var packetCount = 0
    public var lossCount = 0
    /// The number of bursts. Losses with no received packet between them are one burst.
    public var burstCount = 0

    public init() {}

    /// The share of packets lost, 0…1.
    public var share: Double { packetCount > 0 ? Double(lossCount) / Double(packetCount) : 0 }
    /// The mean number of losses in a row, 1 or more; 0 without loss.
    public var meanBurstLength: Double { burstCount > 0 ? Double(lossCount) / Double(burstCount) : 0 }
}

extension LossRLE {
    /// The length of the block in bytes.
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

    /// Parses the block at `start`; the caller has checked that `byteCount` bytes, a multiple of four, are there.
    /// Returns nil if `byteCount` is too small for a block.
    init?(parsing datagram: Span<UInt8>, at start: Int, byteCount: Int) {
        guard byteCount >= 12 else { return nil }
        source = SSRC(datagram.uint32(at: start + 4))
        thinning = datagram[start + 1] & 0x0F
        first = SequenceNumber(rawValue: datagram.uint16(at: start + 8))
        end = SequenceNumber(rawValue: datagram.uint16(at: start + 10))
        chunks = stride(from: start + 12, to: start + byteCount, by: 2).map { datagram.uint16(at: $0) }
    }
}
