public import TenfourAudioCore
public import TenfourSession

/// Datagrams with the times at which they came, from whom and to whom.
public struct DatagramLog: Sendable {
    /// In the order of `sort`, or else in that in which they were taken in.
    public private(set) var entries: [Entry] = []
    private var bytes: [UInt8] = []

    /// One of them.
    public struct Entry: Hashable, Sendable {
        public var at: Instant
        public var source: Endpoint
        public var destination: Endpoint
        fileprivate var bytes: Range<Int>
    }

    public init() {}

    /// Takes in a copy.
    public mutating func append(
        _ datagram: Span<UInt8>, from source: Endpoint, to destination: Endpoint, at instant: Instant
    ) {
        let start = bytes.count
        bytes.append(addingCapacity: datagram.count) { bytes in
            for index in datagram.indices { bytes.append(datagram[index]) }
        }
        entries.append(Entry(at: instant, source: source, destination: destination, bytes: start..<bytes.count))
    }

    /// The bytes of an entry of this log.
    @_lifetime(borrow self)
    public func datagram(_ entry: Entry) -> Span<UInt8> { bytes.span.extracting(entry.bytes) }

    /// By time; those of one moment stay as they were.
    public mutating func sort() {
        let sorted = entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        entries = sorted.map(\.element)
    }
}
