/// A report of a sender: the state of its own stream, and statistics of the sources that it receives (RTCP packet type
/// 200, RFC 3550 section 6.4.1).
public struct SenderReport: Hashable, Sendable {
    /// The SSRC of the reporter.
    public var ssrc: SSRC
    /// The reporter's wall clock when the report was sent.
    public var time: NTPTime
    /// The RTP timestamp of the stream at the time `time`.
    public var timestamp: RTPTimestamp
    /// The number of RTP packets sent since the beginning. Wraps.
    public var packetCount: UInt32
    /// The number of payload bytes sent since the beginning. Wraps.
    public var octetCount: UInt32
    /// The report blocks. The first 31 are written; further blocks need a `ReceiverReport` behind this report.
    public var blocks: [ReportBlock]

    public init(
        ssrc: SSRC, time: NTPTime, timestamp: RTPTimestamp, packetCount: UInt32, octetCount: UInt32,
        blocks: [ReportBlock] = []
    ) {
        self.ssrc = ssrc
        self.time = time
        self.timestamp = timestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
        self.blocks = blocks
    }

    /// The length on the wire in bytes, with the header.
    public var byteCount: Int { 28 + ReportBlock.byteCount * min(blocks.count, ReportBlock.maximumCount) }

    /// Appends the packet, which has `byteCount` bytes; `datagram` must have space for them.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        let blocks = blocks.prefix(ReportBlock.maximumCount)
        datagram.append(headerOf: RTCPHeader.senderReport, count: blocks.count, byteCount: byteCount)
        datagram.append(bigEndian: ssrc.rawValue)
        datagram.append(bigEndian: UInt32(time.rawValue >> 32))
        datagram.append(bigEndian: UInt32(time.rawValue & 0xFFFF_FFFF))
        datagram.append(bigEndian: timestamp.rawValue)
        datagram.append(bigEndian: packetCount)
        datagram.append(bigEndian: octetCount)
        for block in blocks { block.write(into: &datagram) }
    }
}

/// A report of a receiver that sends no media: statistics of the sources that it receives (RTCP packet type 201, RFC
/// 3550 section 6.4.2).
public struct ReceiverReport: Hashable, Sendable {
    /// The SSRC of the reporter.
    public var ssrc: SSRC
    /// The report blocks. The first 31 are written; further blocks need another report behind this one.
    public var blocks: [ReportBlock]

    public init(ssrc: SSRC, blocks: [ReportBlock] = []) {
        self.ssrc = ssrc
        self.blocks = blocks
    }

    /// The length on the wire in bytes, with the header.
    public var byteCount: Int { 8 + ReportBlock.byteCount * min(blocks.count, ReportBlock.maximumCount) }

    /// Appends the packet, which has `byteCount` bytes; `datagram` must have space for them.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        let blocks = blocks.prefix(ReportBlock.maximumCount)
        datagram.append(headerOf: RTCPHeader.receiverReport, count: blocks.count, byteCount: byteCount)
        datagram.append(bigEndian: ssrc.rawValue)
        for block in blocks { block.write(into: &datagram) }
    }
}

extension SenderReport {
    /// Parses the report. Bytes after the blocks are a profile's extension and are skipped.
    init(parsing datagram: Span<UInt8>, _ header: RTCPHeader) throws(RTCPParseError) {
        let start = header.body.lowerBound
        guard header.body.count >= 24 + ReportBlock.byteCount * header.count else { throw header.tooShort }
        self.init(
            ssrc: SSRC(datagram.uint32(at: start)),
            time: NTPTime(
                rawValue: UInt64(datagram.uint32(at: start + 4)) << 32 | UInt64(datagram.uint32(at: start + 8))),
            timestamp: RTPTimestamp(rawValue: datagram.uint32(at: start + 12)),
            packetCount: datagram.uint32(at: start + 16),
            octetCount: datagram.uint32(at: start + 20),
            blocks: (0..<header.count).map {
                ReportBlock(parsing: datagram, at: start + 24 + ReportBlock.byteCount * $0)
            })
    }
}

extension ReceiverReport {
    /// Parses the report. Bytes after the blocks are a profile's extension and are skipped.
    init(parsing datagram: Span<UInt8>, _ header: RTCPHeader) throws(RTCPParseError) {
        let start = header.body.lowerBound
        guard header.body.count >= 4 + ReportBlock.byteCount * header.count else { throw header.tooShort }
        self.init(
            ssrc: SSRC(datagram.uint32(at: start)),
            blocks: (0..<header.count).map {
                ReportBlock(parsing: datagram, at: start + 4 + ReportBlock.byteCount * $0)
            })
    }
}
