public import RTP
public import Sound

/// A packet of sound, taken apart: its numbers, and where its payload lies in the datagram.
public struct MediaPacket: Equatable, Sendable {
    public var ssrc: SSRC
    public var sequenceNumber: SequenceNumber
    public var timestamp: RTPTimestamp
    /// The first of a talkspurt.
    public var marker: Bool
    /// Where the Opus packet lies in the datagram, and how much sound it holds.
    public var description: PacketDescription

    init(header: RTPHeader, opus: OpusPacket) {
        ssrc = header.ssrc
        sequenceNumber = header.sequenceNumber
        timestamp = header.timestamp
        marker = header.marker
        description = PacketDescription(
            offset: header.payload.lowerBound, byteCount: header.payload.count, frameCount: opus.frameCount)
    }
}
