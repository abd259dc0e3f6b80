public import TenfourAudioCore
public import TenfourPackets

/// A received packet of audio: its RTP header fields, and the position of its payload in the datagram.
///
/// The datagram may also contain redundant copies of earlier packets that have not arrived. `copy` returns each of them
/// as a packet of its own. They are older, so pass them on before this packet.
public struct MediaPacket: Equatable, Sendable {
    public var ssrc: SSRC
    /// The sequence number, without those of the source's packets that carry no audio (RFC 4733, RFC 3389).
    public var sequenceNumber: SequenceNumber
    /// The timestamp at 48 000 Hz, whatever the clock of the encoding.
    public var timestamp: RTPTimestamp
    public var encoding: AudioEncoding
    /// Whether the packet is the first of a talkspurt.
    public var marker: Bool
    /// The position of the encoded audio in the datagram, and its duration.
    public var description: PacketDescription
    public var origin: PacketOrigin
    /// Whether the packet waited in the socket before anybody read it (`RTPSession.beginReception`).
    public internal(set) var hasWaited = false
    /// The number of redundant copies, 0…7.
    public private(set) var copyCount = 0

    private var copies = InlineArray<7, Copy>(repeating: Copy())

    private struct Copy: BitwiseCopyable, Sendable {
        var distance = 0
        var age = FrameCount(0)
        var description = PacketDescription(offset: 0, byteCount: 0, frameCount: FrameCount(0))
    }

    init(
        header: RTPHeader, sequenceNumber: SequenceNumber, payload: Range<Int>, frameCount: FrameCount,
        encoding: AudioEncoding, origin: PacketOrigin
    ) {
        ssrc = header.ssrc
        self.sequenceNumber = sequenceNumber
        timestamp = header.timestamp
        self.encoding = encoding
        marker = header.marker
        description = PacketDescription(
            offset: payload.lowerBound, byteCount: payload.count, frameCount: frameCount)
        self.origin = origin
    }

    /// Returns the copy `index` as a packet; 0 is the oldest.
    public func copy(_ index: Int) -> MediaPacket {
        precondition(index >= 0 && index < copyCount, "the packet has no such copy")
        let copy = copies[index]
        var packet = self
        packet.sequenceNumber = sequenceNumber.advanced(by: -copy.distance)
        packet.timestamp = timestamp.advanced(by: .zero - copy.age)
        packet.marker = false
        packet.description = copy.description
        packet.origin = .copy
        packet.copyCount = 0
        return packet
    }

    /// Adds a copy of the packet `distance` packets earlier. `age` is the time from that packet to this one, in frames
    /// at 48 000 Hz. A packet holds at most seven copies.
    mutating func add(copyOfPacketBefore distance: Int, age: FrameCount, _ description: PacketDescription) {
        copies[copyCount] = Copy(distance: distance, age: age, description: description)
        copyCount += 1
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.hasSameNumbers(as: right) && left.copyCount == right.copyCount
            && (0..<left.copyCount).allSatisfy { left.copy($0).hasSameNumbers(as: right.copy($0)) }
    }

    private func hasSameNumbers(as other: Self) -> Bool {
        ssrc == other.ssrc && sequenceNumber == other.sequenceNumber && timestamp == other.timestamp
            && encoding == other.encoding && marker == other.marker && description == other.description
            && origin == other.origin
    }
}
