public import TenfourPackets

/// An RTCP packet of the type APP, subtype zero, that a remote has sent (RFC 3550 section 6.7).
public struct ApplicationPacket: Hashable, Sendable {
    /// The sender.
    public var ssrc: SSRC
    /// The four characters of the name, the first in the highest byte.
    public var name: UInt32
    /// The data behind the name: whole words of four bytes, at most `maximumByteCount` bytes.
    public var data: [UInt8]

    /// The longest data that is sent and received, in bytes.
    public static let maximumByteCount = 64

    static let type: UInt8 = 204

    package init(ssrc: SSRC, name: UInt32, data: [UInt8]) {
        self.ssrc = ssrc
        self.name = name
        self.data = data
    }

    /// Reads a packet that `RTCPCompound` returned as unknown from `datagram`; nil if it is another packet, or longer than
    /// is received.
    package init?(_ packet: UnknownRTCPPacket, in datagram: Span<UInt8>) {
        let body = packet.body
        guard packet.type == Self.type, packet.count == 0, body.upperBound <= datagram.count,
            (8...8 + Self.maximumByteCount).contains(body.count)
        else { return nil }
        ssrc = SSRC(datagram.uint32(at: body.lowerBound))
        name = datagram.uint32(at: body.lowerBound + 4)
        data = (body.lowerBound + 8..<body.upperBound).map { datagram[$0] }
    }

    /// Returns a compound datagram that contains the packet after the shortest report that receivers accept.
    func datagram(canonicalName: String) -> [UInt8] {
        let report = ReceiverReport(ssrc: ssrc)
        let description = SourceDescription(ssrc: ssrc, canonicalName: canonicalName)
        return [UInt8](capacity: report.byteCount + description.byteCount + byteCount) { datagram in
            report.write(into: &datagram)
            description.write(into: &datagram)
            write(into: &datagram)
        }
    }

    /// The length with the header, in bytes.
    package var byteCount: Int { 12 + data.count }

    /// Appends the packet, which has `byteCount` bytes.
    package func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(0x80)
        datagram.append(Self.type)
        datagram.append(bigEndian: UInt16(byteCount / 4 - 1))
        datagram.append(bigEndian: ssrc.rawValue)
        datagram.append(bigEndian: name)
        for byte in data { datagram.append(byte) }
    }
}

/// The packets that the caller has not taken yet, at most 32. Further ones are dropped.
struct ApplicationPackets: Sendable {
    private var packets: [ApplicationPacket] = []
    private static let mostWaiting = 32

    /// Takes a packet of a remote's datagram, if it is an APP packet. Returns whether it is. `own` is our SSRC.
    mutating func take(_ packet: RTCPPacket, in datagram: Span<UInt8>, own: SSRC) -> Bool {
        guard case .unknown(let other) = packet, let packet = ApplicationPacket(other, in: datagram) else {
            return false
        }
        if packet.ssrc != own, packets.count < Self.mostWaiting { packets.append(packet) }
        return true
    }

    mutating func next() -> ApplicationPacket? { packets.isEmpty ? nil : packets.removeFirst() }
}
