internal import TenfourAudioCore

/// The pcap format, older than pcapng: a header, then records (draft-ietf-opsawg-pcap).
struct PCAP {
    private var order: ByteOrder
    private var nanosecondsInUnit: Int64
    private var linkType: LinkType

    static let headerByteCount = 24
    private static let recordHeaderByteCount = 16
    /// The maximum length of a record in bytes. tcpdump captures at most 262 144 bytes of a packet. A longer record
    /// counts as damage.
    static let longestPacket = 1 << 20

    init(_ bytes: Span<UInt8>) throws(CaptureError) {
        switch ByteOrder.bigEndian.uint32(bytes, at: 0) {
        case 0xA1B2_C3D4: (order, nanosecondsInUnit) = (.bigEndian, 1_000)
        case 0xD4C3_B2A1: (order, nanosecondsInUnit) = (.littleEndian, 1_000)
        case 0xA1B2_3C4D: (order, nanosecondsInUnit) = (.bigEndian, 1)
        case 0x4D3C_B2A1: (order, nanosecondsInUnit) = (.littleEndian, 1)
        default: throw .unknownFormat
        }
        guard bytes.count >= Self.headerByteCount else { throw .noHeader }
        let version = order.uint16(bytes, at: 4)
        guard version == 2 else { throw .unknownVersion(version) }
        // Ignores the upper bits, which hold the length of frame check sequences.
        linkType = LinkType(rawValue: order.uint32(bytes, at: 20) & 0x03FF_FFFF)
    }

    func next(in bytes: Span<UInt8>, at position: Int) -> CaptureStep {
        let start = position + Self.recordHeaderByteCount
        guard start <= bytes.count else { return .damage("it ends within the header of a packet") }
        let seconds = Int64(order.uint32(bytes, at: position))
        let rest = Int64(order.uint32(bytes, at: position + 4))
        let byteCount = Int(order.uint32(bytes, at: position + 8))
        guard byteCount <= Self.longestPacket else { return .damage("a packet says it has \(byteCount) bytes") }
        guard byteCount <= bytes.count - start else { return .damage("it ends within a packet") }
        let packet = CapturedPacket(
            time: Instant(nanoseconds: seconds * 1_000_000_000 + rest * nanosecondsInUnit), linkType: linkType,
            bytes: start..<start + byteCount, originalByteCount: Int(order.uint32(bytes, at: position + 12)))
        return .packet(packet, end: start + byteCount)
    }
}
