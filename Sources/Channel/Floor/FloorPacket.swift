public import TenfourPackets

/// A message about the floor between two stations: an RTCP packet of the type APP (204), subtype zero, named `FLOR` (RFC
/// 3550 section 6.7).
public struct FloorPacket: Hashable, Sendable {
    /// The sender.
    public var ssrc: SSRC
    public var message: FloorMessage

    public init(ssrc: SSRC, _ message: FloorMessage) {
        self.ssrc = ssrc
        self.message = message
    }

    /// The length with the header, in bytes.
    public static let byteCount = 12 + FloorMessage.byteCount

    /// Reads an RTCP packet that `RTCPCompound` returned as unknown from its `datagram`. Returns nil if it is another
    /// packet than this one; throws if its message is wrong.
    public init?(_ packet: UnknownRTCPPacket, in datagram: Span<UInt8>) throws(FloorParseError) {
        let start = packet.body.lowerBound
        guard packet.type == Self.type, packet.count == 0, packet.body.count >= 8,
            packet.body.upperBound <= datagram.count, datagram.uint32(at: start + 4) == Self.name
        else { return nil }
        ssrc = SSRC(datagram.uint32(at: start))
        message = try FloorMessage(parsing: datagram.extracting((start + 8)..<packet.body.upperBound))
    }

    /// Appends the packet, which has `byteCount` bytes.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(0x80)
        datagram.append(Self.type)
        datagram.append(bigEndian: UInt16(Self.byteCount / 4 - 1))
        datagram.append(bigEndian: ssrc.rawValue)
        datagram.append(bigEndian: Self.name)
        message.write(into: &datagram)
    }

    private static let type: UInt8 = 204
    /// `FLOR` in ASCII.
    private static let name: UInt32 = 0x464C_4F52
}
