/// Requests the retransmission of packets (RTPFB 205, format 1: RFC 4585 section 6.2.1).
public struct GenericNACK: Hashable, Sendable {
    /// The SSRC of the receiver that requests the packets.
    public var sender: SSRC
    /// The SSRC of the stream whose packets are requested.
    public var media: SSRC
    /// The sequence numbers of the requested packets, in order and unique.
    public var sequenceNumbers: [SequenceNumber]

    static let format = 1
    /// The maximum number of entries that are read from a NACK; further ones are ignored. An entry is a packet with a
    /// bit mask of the sixteen packets after it. So 64 entries reach over a thousand packets, and no sender keeps
    /// packets longer.
    private static let maximumEntryCount = 64

    public init(sender: SSRC, media: SSRC, sequenceNumbers: [SequenceNumber]) {
        self.sender = sender
        self.media = media
        self.sequenceNumbers = sequenceNumbers
    }

    /// The length on the wire in bytes, with the header.
    public var byteCount: Int { 12 + 4 * entries.count }

    /// Appends the packet, which has `byteCount` bytes; `datagram` must have space for them.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(headerOf: RTCPHeader.transportFeedback, count: Self.format, byteCount: byteCount)
        datagram.append(bigEndian: sender.rawValue)
        datagram.append(bigEndian: media.rawValue)
        for entry in entries {
            datagram.append(bigEndian: entry.first.rawValue)
            datagram.append(bigEndian: entry.following)
        }
    }

    /// The entries on the wire: the first requested packet, and a bit mask of the sixteen packets after it. Bit n
    /// stands for the packet n + 1 later.
    private var entries: [(first: SequenceNumber, following: UInt16)] {
        var entries: [(first: SequenceNumber, following: UInt16)] = []
        for number in sequenceNumbers {
            if let last = entries.last, case let step = number.distance(after: last.first), (1...16).contains(step) {
                entries[entries.count - 1].following |= 1 << UInt16(step - 1)
            } else {
                entries.append((number, 0))
            }
        }
        return entries
    }
}

extension GenericNACK {
    init(parsing datagram: Span<UInt8>, _ header: RTCPHeader) throws(RTCPParseError) {
        let start = header.body.lowerBound
        guard header.body.count >= 12, header.body.count % 4 == 0 else { throw header.tooShort }
        sender = SSRC(datagram.uint32(at: start))
        media = SSRC(datagram.uint32(at: start + 4))
        sequenceNumbers = []
        let end = min(header.body.upperBound, start + 8 + 4 * Self.maximumEntryCount)
        for position in stride(from: start + 8, to: end, by: 4) {
            let first = SequenceNumber(rawValue: datagram.uint16(at: position))
            let following = datagram.uint16(at: position + 2)
            sequenceNumbers.append(first)
            for bit in 0..<16 where following >> UInt16(bit) & 1 != 0 {
                sequenceNumbers.append(first.advanced(by: bit + 1))
            }
        }
    }
}
