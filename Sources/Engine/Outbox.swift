internal import RTP

/// What waits to be taken out of a station: one packet of media for each remote, and reports.
struct Outbox: Sendable {
    private var media: [UInt8] = []
    private var remotes: ArraySlice<Endpoint> = []
    private var control: [(datagram: [UInt8], endpoint: Endpoint)] = []

    /// Reports nobody took are worth nothing later.
    private static let maximumControlCount = 128

    /// Replaces what was not taken of the packet before. Keeps its memory from packet to packet.
    mutating func putMedia(_ header: RTPHeader, _ payload: Span<UInt8>, to remotes: [Endpoint]) {
        media.removeAll(keepingCapacity: true)
        media.append(addingCapacity: RTPHeader.byteCount + payload.count) { datagram in
            header.write(into: &datagram)
            for index in payload.indices { datagram.append(payload[index]) }
        }
        self.remotes = remotes[...]
    }

    mutating func putControl(_ datagram: [UInt8], to endpoint: Endpoint) {
        guard control.count < Self.maximumControlCount else { return }
        control.append((datagram, endpoint))
    }

    mutating func next(into buffer: inout OutputSpan<UInt8>) -> Station.Destination? {
        if let remote = remotes.popFirst() {
            for byte in media { buffer.append(byte) }
            return Station.Destination(endpoint: remote, isControl: false)
        }
        guard !control.isEmpty else { return nil }
        let (datagram, endpoint) = control.removeFirst()
        for byte in datagram { buffer.append(byte) }
        return Station.Destination(endpoint: endpoint, isControl: true)
    }
}
