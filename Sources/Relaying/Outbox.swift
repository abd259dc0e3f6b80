internal import Engine
internal import Keys

/// Datagrams that wait to be taken out of a relay. Keeps its memory from one to the next.
struct Outbox: Sendable {
    private var bytes: [UInt8] = []
    private var datagrams: [(start: Int, endpoint: Endpoint)] = []
    private var taken = 0

    /// What is kept when all is taken: one good-bye to thousands should not stay for ever.
    private static let keptByteCount = 16_384

    mutating func put(capacity: Int, to endpoint: Endpoint, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let start = bytes.count
        bytes.append(addingCapacity: capacity) { write(&$0) }
        datagrams.append((start, endpoint))
    }

    mutating func put(_ datagram: Span<UInt8>, to endpoint: Endpoint) {
        put(capacity: datagram.count, to: endpoint) { for index in datagram.indices { $0.append(datagram[index]) } }
    }

    mutating func next(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        guard taken < datagrams.count else { return nil }
        let (start, endpoint) = datagrams[taken]
        taken += 1
        let end = taken < datagrams.count ? datagrams[taken].start : bytes.count
        for index in start..<end { buffer.append(bytes[index]) }
        if taken == datagrams.count { empty() }
        return endpoint
    }

    private mutating func empty() {
        let keeps = bytes.capacity <= Self.keptByteCount
        bytes.removeAll(keepingCapacity: keeps)
        datagrams.removeAll(keepingCapacity: keeps)
        taken = 0
    }
}

extension Outbox {
    /// A record of anything but a report, for a member, at its address.
    mutating func put(_ record: Record, for member: Int, of sessions: inout SessionTable) {
        put(record, for: member, of: &sessions, to: sessions[member].endpoint)
    }

    mutating func put(_ record: Record, for member: Int, of sessions: inout SessionTable, to endpoint: Endpoint) {
        put(capacity: 96, to: endpoint) { sessions.keys.seal(record, for: member, into: &$0) }
    }

    /// A record of RTCP.
    mutating func put(report: Span<UInt8>, for member: Int, of sessions: inout SessionTable) {
        put(capacity: report.count + 64, to: sessions[member].endpoint) {
            sessions.keys.seal(report: report, for: member, into: &$0)
        }
    }
}
