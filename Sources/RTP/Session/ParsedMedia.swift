package import TenfourAudioCore
internal import TenfourPackets

/// The parts of an RTP datagram that carries audio, alone or in redundant coding (RFC 2198).
struct ParsedMedia {
    /// The RTP header. Its timestamp counts at the clock rate of `encoding`.
    let header: RTPHeader
    let encoding: AudioEncoding
    /// The range of the primary payload, one packet of `encoding`, in the datagram.
    let payload: Range<Int>
    /// The first byte of an Opus packet; nil for G.711.
    let toc: OpusTOC?
    /// The duration of the packet, at 48 000 Hz.
    let frameCount: FrameCount
    /// The blocks of redundant coding; nil if the payload is not redundantly coded.
    let redundancy: RedundantPayload?

    enum Failure: Error {
        case discarded(DiscardReason)
        /// The header is valid, and the payload type is not that of audio which the session accepts. The payload type and
        /// the range are those of the audio; in redundant coding they are those of the primary payload.
        case otherPayloadType(RTPHeader, UInt8, Range<Int>)
        /// The header is valid, but the payload is not a packet of its encoding.
        case unreadable(RTPHeader, AudioEncoding)
    }

    /// Parses a datagram of `sender`. The payload types of `streams` that were recognised are accepted.
    init(
        parsing datagram: Span<UInt8>, from sender: Endpoint, _ configuration: RTPSessionConfiguration,
        _ streams: UnnamedStreams
    ) throws(Failure) {
        guard let header = try? RTPHeader(parsing: datagram) else { throw .discarded(.malformedRTP) }
        (encoding, payload, redundancy) = try Self.primary(of: datagram, header, configuration) {
            streams.isOpus(header, $0, from: sender) ? .opus : nil
        }
        let opus = encoding == .opus ? try? OpusPacket(parsing: datagram.extracting(payload)) : nil
        guard let frameCount = opus?.frameCount ?? encoding.frameCount(ofByteCount: payload.count) else {
            throw .unreadable(header, encoding)
        }
        guard payload.count <= RTPSession.maximumPayloadByteCount else { throw .discarded(.oversizedPayload) }
        self.header = header
        self.frameCount = frameCount
        toc = opus?.toc
    }

    private static func primary(
        of datagram: Span<UInt8>, _ header: RTPHeader, _ configuration: RTPSessionConfiguration,
        recognised: (UInt8) -> AudioEncoding?
    ) throws(Failure) -> (AudioEncoding, Range<Int>, RedundantPayload?) {
        if let encoding = configuration.acceptedPayloadTypes[header.payloadType] {
            return (encoding, header.payload, nil)
        }
        guard header.payloadType == configuration.lossProtection.redPayloadType else {
            if let encoding = recognised(header.payloadType) { return (encoding, header.payload, nil) }
            throw .otherPayloadType(header, header.payloadType, header.payload)
        }
        guard let blocks = try? RedundantPayload(parsing: datagram.extracting(header.payload)) else {
            throw .discarded(.malformedPayload)
        }
        let type = blocks.primary.payloadType
        let payload = (header.payload.lowerBound + blocks.primary.offset)..<header.payload.upperBound
        guard let encoding = configuration.acceptedPayloadTypes[type] ?? recognised(type) else {
            throw .otherPayloadType(header, type, payload)
        }
        return (encoding, payload, blocks)
    }
}

extension AudioEncoding {
    /// Returns the duration of a packet of G.711 in frames at 48 000 Hz. Nil for Opus, whose packets state their
    /// duration, and for a packet that is empty or longer than 120 ms.
    fileprivate func frameCount(ofByteCount byteCount: Int) -> FrameCount? {
        guard self != .opus, (1...960).contains(byteCount) else { return nil }
        return FrameCount(byteCount * framesPerTick)
    }

    /// Returns the duration of `payload` in frames at 48 000 Hz; nil if it is not a packet of this encoding.
    package func frameCount(of payload: Span<UInt8>) -> FrameCount? {
        self == .opus ? (try? OpusPacket(parsing: payload))?.frameCount : frameCount(ofByteCount: payload.count)
    }
}
