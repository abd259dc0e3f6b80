public import TenfourAudioCore
public import TenfourSession

/// Datagrams with their arrival times, sources and destinations.
public struct DatagramLog: Sendable {
    /// The entries in the order in which they were appended; after `sort`, ordered by time.
    public private(set) var entries: [Entry] = []
    private var bytes: [UInt8] = []

    /// One datagram of the log.
    public struct Entry: Hashable, Sendable {
        public var at: Instant
        public var source: Endpoint
        public var destination: Endpoint
        fileprivate var bytes: Range<Int>
    }

    public init() {}

    /// Appends a copy of a datagram that arrived at `instant`.
    public mutating func append(
        _ datagram: Span<UInt8>, from source: Endpoint, to destination: Endpoint, at instant: Instant
    ) {
        let start = bytes.count
        bytes.append(addingCapacity: datagram.count) { bytes in
            for index in datagram.indices { bytes.append(datagram[index]) }
        }
        entries.append(Entry(at: instant, source: source, destination: destination, bytes: start..<bytes.count))
    }

    /// Returns the bytes of an entry of this log.
    @_lifetime(borrow self)
    public func datagram(_ entry: Entry) -> Span<UInt8> { bytes.span.extracting(entry.bytes) }

    /// Sorts the entries by time. Entries of the same time keep their order.
    public mutating func sort() {
        let sorted = entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        entries = sorted.map(\.element)
    }
}
