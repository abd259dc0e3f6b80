internal import TenfourPackets

/// The sequence numbers and timestamps of our last packets, to recognize them when a network loops them back. Allocates
/// at `init` only.
struct SentPackets: Sendable {
    private var packets = [Packet?](repeating: nil, count: count)

    private struct Packet: Equatable {
        var sequenceNumber: SequenceNumber
        var timestamp: RTPTimestamp

        init(_ header: RTPHeader) { (sequenceNumber, timestamp) = (header.sequenceNumber, header.timestamp) }
    }

    /// The number of packets kept, a power of two: more than a second of the shortest packets.
    private static let count = 512

    mutating func insert(_ header: RTPHeader) { packets[place(of: header)] = Packet(header) }

    /// Whether we recently sent a packet with this sequence number and timestamp.
    func contains(_ header: RTPHeader) -> Bool { packets[place(of: header)] == Packet(header) }

    private func place(of header: RTPHeader) -> Int { Int(header.sequenceNumber.rawValue) % Self.count }
}
