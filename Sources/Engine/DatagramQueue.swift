/// Datagrams that wait to be taken, first in, first out. Keeps its memory from one to the next.
package struct DatagramQueue: Sendable {
    private var bytes: [UInt8] = []
    private var datagrams: [(start: Int, endpoint: Endpoint)] = []
    private var takenCount = 0
    private let limit: Int

    /// What is kept when all is taken: one good-bye to thousands should not stay for ever.
    private static let keptByteCount = 16_384

    /// While nobody takes them, those beyond `limit` are not taken in.
    package init(limit: Int = .max) { self.limit = limit }

    /// How many wait.
    package var count: Int { datagrams.count - takenCount }

    /// Appends a datagram that `write` writes into room for `capacity` bytes; one without bytes is none.
    package mutating func put(capacity: Int, to endpoint: Endpoint, _ write: (inout OutputSpan<UInt8>) -> Void) {
        guard datagrams.count < limit else { return }
        let start = bytes.count
        bytes.append(addingCapacity: capacity) { write(&$0) }
        if bytes.count > start { datagrams.append((start, endpoint)) }
    }

    package mutating func put(_ datagram: Span<UInt8>, to endpoint: Endpoint) {
        put(capacity: datagram.count, to: endpoint) { for index in datagram.indices { $0.append(datagram[index]) } }
    }

    /// Appends the next to `buffer`, which has room for it; nil when there is none.
    package mutating func next(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        guard takenCount < datagrams.count else { return nil }
        let (start, endpoint) = datagrams[takenCount]
        takenCount += 1
        let end = takenCount < datagrams.count ? datagrams[takenCount].start : bytes.count
        for index in start..<end { buffer.append(bytes[index]) }
        if takenCount == datagrams.count { empty() }
        return endpoint
    }

    private mutating func empty() {
        let keeps = bytes.capacity <= Self.keptByteCount
        bytes.removeAll(keepingCapacity: keeps)
        datagrams.removeAll(keepingCapacity: keeps)
        takenCount = 0
    }
}
