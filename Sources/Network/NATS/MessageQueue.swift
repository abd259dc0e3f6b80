/// Messages between two threads, first in, first out. When it is full, the oldest message makes room.
struct MessageQueue: Sendable {
    private(set) var messages: [NATSMessage] = []
    /// The index of the oldest message in `messages`; those before it were dropped.
    private var first = 0
    private var byteCount = 0
    private(set) var droppedCount = 0

    static let mostMessages = 8_192
    static let mostBytes = 8 << 20

    var isEmpty: Bool { first == messages.count }

    mutating func append(_ message: NATSMessage) {
        messages.append(message)
        byteCount += message.bytes.count
        while messages.count - first > Self.mostMessages || byteCount > Self.mostBytes { dropOldest() }
    }

    private mutating func dropOldest() {
        byteCount -= messages[first].bytes.count
        messages[first].bytes = []
        first += 1
        droppedCount += 1
        guard first > Self.mostMessages else { return }
        messages.removeFirst(first)
        first = 0
    }

    /// Removes and returns all messages, oldest first.
    mutating func removeAll() -> ArraySlice<NATSMessage> {
        defer {
            messages = []
            (first, byteCount) = (0, 0)
        }
        return messages[first...]
    }

    /// Drops all messages, because nobody can take them.
    mutating func dropAll() { droppedCount += removeAll().count }
}

/// A message of NATS.
public struct NATSMessage: Sendable, Equatable {
    public var subject: String
    public var bytes: [UInt8]

    public init(subject: String, bytes: [UInt8]) {
        self.subject = subject
        self.bytes = bytes
    }
}
