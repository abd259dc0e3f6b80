internal import TenfourAudioCore
internal import TenfourPackets

/// What has not come from a talker, until it was asked for: once, when there was time for it to be only late.
struct MissingRanges: Sendable {
    private var entries: [Entry] = []

    private struct Entry: Sendable {
        var number: SequenceNumber
        /// When it is asked for; then, when it is forgotten.
        var due: Instant
        var isAsked = false
    }

    /// More at a time is no loss that asking would mend.
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

    /// What is to be asked for now, in order.
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
