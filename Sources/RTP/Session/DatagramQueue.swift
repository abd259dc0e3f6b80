package import TenfourAudioCore

/// A queue of datagrams, first in, first out. Reuses its memory.
package struct DatagramQueue: Sendable {
    private var bytes: [UInt8] = []
    private var datagrams: [Datagram] = []
    private var takenCount = 0
    private let limit: Int

    private struct Datagram: Sendable {
        var start: Int
        var endpoint: Endpoint
        var isControl = false
        /// The time passed to `put`. `forget(before:)` drops the datagram if this time is earlier than the given one.
        var moment: Instant
    }

    /// The maximum memory, in bytes, that the queue keeps when it becomes empty. Otherwise one burst, such as a BYE to
    /// thousands, would hold its memory for ever.
    private static let keptByteCount = 16_384

    /// Creates an empty queue for at most `limit` datagrams. Further datagrams are dropped.
    package init(limit: Int = .max) { self.limit = limit }

    /// The number of waiting datagrams.
    package var count: Int { datagrams.count - takenCount }

    package var hasRoom: Bool { count < limit }

    /// Appends a datagram of at most `capacity` bytes; `write` appends its bytes to its argument. An empty datagram is
    /// not queued. `forget(before:)` drops the datagram if `moment` is earlier than the given time.
    package mutating func put(
        capacity: Int, to endpoint: Endpoint, at moment: Instant = .start, _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        put(capacity: capacity, Datagram(start: 0, endpoint: endpoint, moment: moment), write)
    }

    /// Appends a datagram of at most `capacity` bytes for a destination of an RTP session; `write` appends its bytes to
    /// its argument. `nextDestination` returns the destination.
    package mutating func put(
        capacity: Int, to destination: RTPSession.Destination, _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        let datagram = Datagram(
            start: 0, endpoint: destination.endpoint, isControl: destination.isControl, moment: .start)
        put(capacity: capacity, datagram, write)
    }

    package mutating func put(_ datagram: Span<UInt8>, to destination: RTPSession.Destination) {
        put(capacity: datagram.count, to: destination) {
            for index in datagram.indices { $0.append(datagram[index]) }
        }
    }

    private mutating func put(
        capacity: Int, _ entry: Datagram, _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        guard hasRoom else { return }
        compact()
        let start = bytes.count
        bytes.append(addingCapacity: capacity) { write(&$0) }
        guard bytes.count > start else { return }
        var entry = entry
        entry.start = start
        datagrams.append(entry)
    }

    package mutating func put(_ datagram: Span<UInt8>, to endpoint: Endpoint, at moment: Instant = .start) {
        put(capacity: datagram.count, to: endpoint, at: moment) {
            for index in datagram.indices { $0.append(datagram[index]) }
        }
    }

    /// Appends the next datagram to `buffer`, which must have room for it. Returns its endpoint; nil if the queue is
    /// empty.
    package mutating func next(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        nextDestination(into: &buffer)?.endpoint
    }

    /// Appends the next datagram to `buffer`, which must have room for it. Returns the destination that was given to
    /// `put`; nil if the queue is empty.
    package mutating func nextDestination(into buffer: inout OutputSpan<UInt8>) -> RTPSession.Destination? {
        guard takenCount < datagrams.count else { return nil }
        let datagram = datagrams[takenCount]
        takenCount += 1
        let end = takenCount < datagrams.count ? datagrams[takenCount].start : bytes.count
        for index in datagram.start..<end { buffer.append(bytes[index]) }
        if takenCount == datagrams.count { empty() }
        return RTPSession.Destination(endpoint: datagram.endpoint, isControl: datagram.isControl)
    }

    /// Drops the datagrams at the front that were put with an earlier `moment` than this one.
    package mutating func forget(before moment: Instant) {
        while takenCount < datagrams.count, datagrams[takenCount].moment < moment { takenCount += 1 }
        if takenCount == datagrams.count, takenCount > 0 { empty() }
    }

    /// The memory that the queue holds, in bytes.
    package var capacity: Int { bytes.capacity + datagrams.capacity * MemoryLayout<Datagram>.stride }

    /// Moves the waiting datagrams to the front if they are fewer than the datagrams already taken. Without this, a
    /// queue that never becomes empty would grow for ever.
    private mutating func compact() {
        guard takenCount >= Self.leastCompacted, takenCount > count else { return }
        let start = datagrams[takenCount].start
        bytes.removeSubrange(..<start)
        datagrams.removeSubrange(..<takenCount)
        for index in datagrams.indices { datagrams[index].start -= start }
        takenCount = 0
    }

    private static let leastCompacted = 64

    private mutating func empty() {
        let keeps = bytes.capacity <= Self.keptByteCount
        bytes.removeAll(keepingCapacity: keeps)
        datagrams.removeAll(keepingCapacity: keeps)
        takenCount = 0
    }
}
