internal import Engine

/// Datagrams that wait to be taken. Keeps its memory; when nobody takes them, later ones are not taken in.
struct Outbox: Sendable {
    private var bytes: [UInt8] = []
    private var entries: [(start: Int, end: Int, endpoint: Endpoint)] = []
    private var takenCount = 0

    private static let maximumCount = 64

    /// Appends a datagram that `write` writes into room for `capacity` bytes; one without bytes is none.
    mutating func put(to endpoint: Endpoint, capacity: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        if takenCount == entries.count {
            bytes.removeAll(keepingCapacity: true)
            entries.removeAll(keepingCapacity: true)
            takenCount = 0
        }
        guard entries.count < Self.maximumCount else { return }
        let start = bytes.count
        bytes.append(addingCapacity: capacity) { write(&$0) }
        if bytes.count > start { entries.append((start, bytes.count, endpoint)) }
    }

    mutating func next(into datagram: inout OutputSpan<UInt8>) -> Endpoint? {
        guard takenCount < entries.count else { return nil }
        let entry = entries[takenCount]
        takenCount += 1
        for index in entry.start..<entry.end { datagram.append(bytes[index]) }
        return entry.endpoint
    }
}
