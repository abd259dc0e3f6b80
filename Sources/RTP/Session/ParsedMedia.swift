internal import TenfourAudioCore
internal import TenfourPackets

/// The parts of an RTP datagram that carries Opus, alone or in redundant coding (RFC 2198).
struct ParsedMedia {
    let header: RTPHeader
    /// The position of the primary Opus packet in the datagram.
    let payload: Range<Int>
    let toc: OpusTOC
    /// The duration of the Opus packet.
    let frameCount: FrameCount
    /// The blocks of redundant coding; nil if the payload is a plain Opus packet.
    let redundancy: RedundantPayload?

    enum Failure: Error {
        case discarded(DiscardReason)
        /// The header is valid and the payload is not an Opus packet.
        case notOpus(RTPHeader)
    }

    init(parsing datagram: Span<UInt8>, _ configuration: RTPSessionConfiguration) throws(Failure) {
        guard let header = try? RTPHeader(parsing: datagram) else { throw .discarded(.malformedRTP) }
        (payload, redundancy) = try Self.primary(of: datagram, header, configuration)
        guard let opus = try? OpusPacket(parsing: datagram.extracting(payload)) else { throw .notOpus(header) }
        guard payload.count <= RTPSession.maximumPayloadByteCount else { throw .discarded(.oversizedPayload) }
        self.header = header
        toc = opus.toc
        frameCount = opus.frameCount
    }

    private static func primary(
        of datagram: Span<UInt8>, _ header: RTPHeader, _ configuration: RTPSessionConfiguration
    ) throws(Failure) -> (Range<Int>, RedundantPayload?) {
        if configuration.acceptedPayloadTypes.contains(header.payloadType) { return (header.payload, nil) }
        guard header.payloadType == configuration.lossProtection.redPayloadType else {
            throw .discarded(.unknownPayloadType)
        }
        guard let blocks = try? RedundantPayload(parsing: datagram.extracting(header.payload)) else {
            throw .discarded(.malformedPayload)
        }
        guard configuration.acceptedPayloadTypes.contains(blocks.primary.payloadType) else {
            throw .discarded(.unknownPayloadType)
        }
        return ((header.payload.lowerBound + blocks.primary.offset)..<header.payload.upperBound, blocks)
    }
}
