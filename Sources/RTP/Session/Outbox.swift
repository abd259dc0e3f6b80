internal import TenfourPackets

/// The outgoing datagrams that the caller has not taken yet: one media packet for each remote, retransmissions, and
/// RTCP.
struct Outbox: Sendable {
    /// The last media packet, whether or not the caller has taken it.
    private(set) var media: [UInt8] = []
    /// The remotes to which the media packet must still be sent.
    private var remotes: ArraySlice<Endpoint> = []
    /// The waiting retransmissions and RTCP datagrams.
    private var others: [(datagram: [UInt8], destination: RTPSession.Destination)] = []

    /// The maximum number of waiting retransmissions and RTCP datagrams. Further ones are dropped.
    private static let maximumCount = 128

    /// Queues a media packet for `remotes`. It replaces the media packet queued before, and reuses its memory. `write`
    /// appends the bytes of the packet, at most `capacity`.
    mutating func putMedia(capacity: Int, to remotes: [Endpoint], _ write: (inout OutputSpan<UInt8>) -> Void) {
        media.removeAll(keepingCapacity: true)
        media.append(addingCapacity: capacity) { write(&$0) }
        self.remotes = remotes[...]
    }

    mutating func putControl(_ datagram: [UInt8], to endpoint: Endpoint) {
        put(datagram, RTPSession.Destination(endpoint: endpoint, isControl: true))
    }

    /// Queues a media packet that was sent before.
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
