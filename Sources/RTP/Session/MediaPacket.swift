public import TenfourAudioCore
public import TenfourPackets

/// A packet of sound, taken apart: its numbers, and where its payload lies in the datagram.
///
/// Behind it in the datagram there may be copies of packets that were sent before it and have not come: `copy` tells of
/// each as of a packet of its own. They are older, so they are to be passed on first.
public struct MediaPacket: Equatable, Sendable {
    public var ssrc: SSRC
    public var sequenceNumber: SequenceNumber
    /// At 48 000 Hz, whatever the clock of the encoding.
    public var timestamp: RTPTimestamp
    public var encoding: AudioEncoding
    /// The first of a talkspurt.
    public var marker: Bool
    /// Where the Opus packet lies in the datagram, and how much sound it holds.
    public var description: PacketDescription
    public var origin: PacketOrigin
    /// 0…7.
    public private(set) var copyCount = 0

    private var copies = InlineArray<7, Copy>(repeating: Copy())

    private struct Copy: BitwiseCopyable, Sendable {
        var distance = 0
        var age = FrameCount(0)
        var description = PacketDescription(offset: 0, byteCount: 0, frameCount: FrameCount(0))
    }

    init(header: RTPHeader, payload: Range<Int>, frameCount: FrameCount, encoding: AudioEncoding, origin: PacketOrigin)
    {
        ssrc = header.ssrc
        sequenceNumber = header.sequenceNumber
        timestamp = header.timestamp
        self.encoding = encoding
        marker = header.marker
        description = PacketDescription(
            offset: payload.lowerBound, byteCount: payload.count, frameCount: frameCount)
        self.origin = origin
    }

    /// The copy `index`, the oldest being 0.
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

    /// There is room for all copies that RED can hold.
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
