/// The header of an RTP packet and the range of its payload (RFC 3550 section 5.1).
///
/// CSRCs and the header extension are skipped, padding is removed. Lengths in the datagram are checked against its
/// bytes.
public struct RTPHeader: Hashable, Sendable {
    /// Whether this is the first packet of a talkspurt.
    public var marker: Bool
    /// The payload type, 0…127; the eighth bit is not written.
    public var payloadType: UInt8
    public var sequenceNumber: SequenceNumber
    public var timestamp: RTPTimestamp
    public var ssrc: SSRC
    /// The range of the payload within the datagram.
    public var payload: Range<Int>

    /// The length of a header that we write: no CSRC, no extension.
    public static let byteCount = 12

    public init(
        marker: Bool, payloadType: UInt8, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, ssrc: SSRC,
        payload: Range<Int> = byteCount..<byteCount
    ) {
        self.marker = marker
        self.payloadType = payloadType & 0x7F
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
        self.payload = payload
    }

    /// Parses a whole datagram. Total: for any bytes it returns a header or throws a reason.
    public init(parsing datagram: Span<UInt8>) throws(RTPParseError) {
        guard datagram.count >= Self.byteCount else { throw .truncated(byteCount: datagram.count) }
        let version = datagram[0] >> 6
        guard version == 2 else { throw .unsupportedVersion(version) }
        var start = Self.byteCount + 4 * Int(datagram[0] & 0x0F)
        if datagram[0] & 0x10 != 0 {
            guard datagram.count >= start + 4 else { throw .truncated(byteCount: datagram.count) }
            start += 4 + 4 * Int(datagram.uint16(at: start + 2))
        }
        var end = datagram.count
        guard start <= end else { throw .truncated(byteCount: datagram.count) }
        if datagram[0] & 0x20 != 0 {
            let padding = Int(datagram[end - 1])
            guard padding > 0, padding <= end - start else { throw .invalidPadding(byteCount: padding) }
            end -= padding
        }
        self.init(
            marker: datagram[1] & 0x80 != 0,
            payloadType: datagram[1],
            sequenceNumber: SequenceNumber(rawValue: datagram.uint16(at: 2)),
            timestamp: RTPTimestamp(rawValue: datagram.uint32(at: 4)),
            ssrc: SSRC(datagram.uint32(at: 8)),
            payload: start..<end)
    }

    /// Appends the twelve bytes of the header; `datagram` must have space for them. The caller appends the payload.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(0x80)
        datagram.append((marker ? 0x80 : 0) | payloadType & 0x7F)
        datagram.append(bigEndian: sequenceNumber.rawValue)
        datagram.append(bigEndian: timestamp.rawValue)
        datagram.append(bigEndian: ssrc.rawValue)
    }
}

/// The reason why a datagram is not RTP.
public enum RTPParseError: Error, Hashable, Sendable {
    case truncated(byteCount: Int)
    case unsupportedVersion(UInt8)
    case invalidPadding(byteCount: Int)
}
