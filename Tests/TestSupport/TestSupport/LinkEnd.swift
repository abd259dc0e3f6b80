public import TenfourAudioCore
public import TenfourPackets
public import TenfourSession

/// A session on a simulated link, the speech that it sends, and the packets and events that it has received.
public final class LinkEnd {
    public var session: RTPSession
    public let endpoint: Endpoint
    /// The packets that it sends; nil while it is silent.
    public var speech: Speech?
    public var events: [Event] = []
    public var heard: [HeardPacket] = []
    public var sent: [SentDatagram] = []
    public private(set) var receivedCount = 0
    public private(set) var receivedByteCount = 0

    public static let port: UInt16 = 5_004

    /// Creates the end with index `number` on its link, counting from zero.
    public init(_ session: consuming RTPSession, number: Int) {
        self.session = session
        endpoint = SimulatedLink.endpoint(number)
    }

    /// The RTCP datagrams that it has sent.
    public var sentControl: [SentDatagram] { sent.filter(\.isControl) }
    /// The RTCP datagrams that are no brief reports.
    public var sentReports: [SentDatagram] { sentControl.filter { !$0.isBrief } }
    public var sentMedia: [SentDatagram] { sent.filter { !$0.isControl } }
    /// The numbers of the packets received, in the order of their arrival.
    public var heardNumbers: [Int] { heard.map(\.number) }

    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> RTPSession.Reception {
        receivedCount += 1
        receivedByteCount += datagram.count
        let reception = session.receive(datagram, from: sender, at: now)
        if case .media(let packet) = reception {
            for index in 0..<packet.copyCount { heard.append(HeardPacket(packet.copy(index), in: datagram, at: now)) }
            heard.append(HeardPacket(packet, in: datagram, at: now))
        }
        return reception
    }
}

/// A datagram that a session has sent.
public struct SentDatagram: Equatable, Sendable {
    public var at: Instant
    public var endpoint: Endpoint
    public var isControl: Bool
    public var bytes: [UInt8]

    public init(at now: Instant, _ destination: RTPSession.Destination, _ bytes: [UInt8]) {
        at = now
        endpoint = destination.endpoint
        isControl = destination.isControl
        self.bytes = bytes
    }

    /// The RTCP packets of the datagram, as far as they can be parsed.
    public var packets: [RTCPPacket] {
        guard var compound = try? RTCPCompound(parsing: bytes.span) else { return [] }
        var packets: [RTCPPacket] = []
        while let packet = try? compound.next() { packets.append(packet) }
        return packets
    }

    /// Whether it is a brief report, which carries a status.
    public var isBrief: Bool {
        packets.contains { packet in
            guard case .unknown(let other) = packet, let packet = ApplicationPacket(other, in: bytes.span),
                packet.name == StationStatus.packetName
            else { return false }
            return StationStatus(packet.data)?.isBrief ?? false
        }
    }

    /// The report blocks of all reports in the datagram.
    public var blocks: [ReportBlock] {
        packets.flatMap { packet -> [ReportBlock] in
            switch packet {
            case .senderReport(let report): report.blocks
            case .receiverReport(let report): report.blocks
            default: []
            }
        }
    }

    /// The SSRCs that the datagram's BYE packets name.
    public var goodbyes: [SSRC] {
        packets.flatMap { packet -> [SSRC] in
            if case .goodbye(let goodbye) = packet { goodbye.sources } else { [] }
        }
    }
}

/// A media packet that a session has accepted.
public struct HeardPacket: Equatable, Sendable {
    public var packet: MediaPacket
    public var payload: [UInt8]
    public var at: Instant

    public init(_ packet: MediaPacket, in datagram: Span<UInt8>, at now: Instant) {
        self.packet = packet
        let start = packet.description.offset
        payload = (start..<start + packet.description.byteCount).map { datagram[$0] }
        at = now
    }

    /// The number of the packet in its `Speech`.
    public var number: Int { Speech.number(of: payload.span) }
}
