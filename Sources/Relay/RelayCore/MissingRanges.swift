internal import TenfourAudioCore
internal import TenfourPackets

/// The packets of a talker that have not come. Each is requested once, after the time in which it may only be late.
struct MissingRanges: Sendable {
    private var entries: [Entry] = []

    private struct Entry: Sendable {
        var number: SequenceNumber
        /// When it is requested; after that, when it is forgotten.
        var due: Instant
        var isAsked = false
    }

    /// The most packets at a time: a retransmission would not recover more.
    static let maximumCount = 64
    /// How much later than those behind it a packet may come.
    static let reordering = Duration.milliseconds(10)
    /// How long after the question an answer is known for what it is.
    private static let memory = Duration.seconds(1)

    init() {}

    /// `count` packets before this one are missing so far.
    mutating func skipped(_ count: Int, before number: SequenceNumber, at now: Instant) {
        guard count > 0, count <= Self.maximumCount else { return }
        entries.removeFirst(max(entries.count + count - Self.maximumCount, 0))
        for step in (1...count).reversed() {
            entries.append(Entry(number: number.advanced(by: -step), due: now + Self.reordering))
        }
    }

    mutating func arrived(_ number: SequenceNumber) { entries.removeAll { $0.number == number } }

    func isAsked(_ number: SequenceNumber) -> Bool {
        !entries.isEmpty && entries.contains { $0.number == number && $0.isAsked }
    }

    mutating func removeAll() { entries.removeAll() }

    var isEmpty: Bool { entries.isEmpty }

    var nextDeadline: Instant? { entries.lazy.map(\.due).min() }

    /// Returns the packets to request now, in order.
    mutating func nextRequests(at now: Instant) -> [SequenceNumber] {
        entries.removeAll { $0.isAsked && $0.due <= now }
        var numbers: [SequenceNumber] = []
        for index in entries.indices where entries[index].due <= now {
            numbers.append(entries[index].number)
            entries[index].isAsked = true
            entries[index].due = now + Self.memory
        }
        return numbers
    }
}
