internal import TenfourPackets

/// The datagrams that wait to be taken: one packet of media for each remote, retransmissions, and RTCP.
struct Outbox: Sendable {
    /// The packet of media that was put last, whether or not it was taken.
    private(set) var media: [UInt8] = []
    private var remotes: ArraySlice<Endpoint> = []
    private var others: [(datagram: [UInt8], destination: RTPSession.Destination)] = []

    /// The most datagrams that wait. Later ones are dropped.
    private static let maximumCount = 128

    /// Puts a packet of media, in place of the packet before. Keeps its memory from packet to packet.
    mutating func putMedia(capacity: Int, to remotes: [Endpoint], _ write: (inout OutputSpan<UInt8>) -> Void) {
        media.removeAll(keepingCapacity: true)
        media.append(addingCapacity: capacity) { write(&$0) }
        self.remotes = remotes[...]
    }

    mutating func putControl(_ datagram: [UInt8], to endpoint: Endpoint) {
        put(datagram, RTPSession.Destination(endpoint: endpoint, isControl: true))
    }

    /// Puts media that was sent before.
    mutating func putRetransmission(_ datagram: [UInt8], to endpoint: Endpoint) {
        put(datagram, RTPSession.Destination(endpoint: endpoint, isControl: false))
    }

    private mutating func put(_ datagram: [UInt8], _ destination: RTPSession.Destination) {
        guard others.count < Self.maximumCount else { return }
        others.append((datagram, destination))
    }

    mutating func next(into buffer: inout OutputSpan<UInt8>) -> RTPSession.Destination? {
        if let remote = remotes.popFirst() {
            for byte in media { buffer.append(byte) }
            return RTPSession.Destination(endpoint: remote, isControl: false)
        }
        guard !others.isEmpty else { return nil }
        let (datagram, destination) = others.removeFirst()
        for byte in datagram { buffer.append(byte) }
        return destination
    }
}
