internal import TenfourAudioCore

/// A message by which one or more sources leave (RTCP packet type 203, RFC 3550 section 6.6).
public struct Goodbye: Hashable, Sendable {
    /// The sources that leave. Only the first 31 are written.
    public var sources: [SSRC]
    /// The reason, for people: at most 255 bytes of UTF-8 are written. When read, it is made safe for a terminal.
    public var reason: String?

    public init(sources: [SSRC], reason: String? = nil) {
        self.sources = sources
        self.reason = reason
    }

    /// The length on the wire in bytes, with the header.
    public var byteCount: Int {
        4 + 4 * min(sources.count, 31) + (writtenReason.map { ($0.utf8.count + 4) / 4 * 4 } ?? 0)
    }

    /// Appends the packet, which has `byteCount` bytes; `datagram` must have space for them.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        let sources = sources.prefix(31)
        datagram.append(headerOf: RTCPHeader.goodbye, count: sources.count, byteCount: byteCount)
        for source in sources { datagram.append(bigEndian: source.rawValue) }
        guard let reason = writtenReason else { return }
        datagram.append(UInt8(reason.utf8.count))
        for byte in reason.utf8 { datagram.append(byte) }
        for _ in 0..<(3 - reason.utf8.count % 4) { datagram.append(0) }
    }

    private var writtenReason: Substring? { reason?.prefix(ofUTF8: 255) }
}

extension Goodbye {
    init(parsing datagram: Span<UInt8>, _ header: RTCPHeader) throws(RTCPParseError) {
        let start = header.body.lowerBound
        let end = start + 4 * header.count
        guard end <= header.body.upperBound else { throw header.tooShort }
        sources = (0..<header.count).map { SSRC(datagram.uint32(at: start + 4 * $0)) }
        guard end < header.body.upperBound else { return }
        let text = (end + 1)..<(end + 1 + Int(datagram[end]))
        guard text.upperBound <= header.body.upperBound else { throw header.tooShort }
        reason = String(fromPeer: datagram.extracting(text))
    }
}
