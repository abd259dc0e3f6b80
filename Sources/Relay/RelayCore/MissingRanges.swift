internal import TenfourAudioCore
internal import TenfourPackets

/// The missing packets of a talker. Each packet is requested once, 10 ms after it was found missing, because until then
/// the packet may only be late.
struct MissingRanges: Sendable {
    private var entries: [Entry] = []

    private struct Entry: Sendable {
        var number: SequenceNumber
        /// The time at which the packet is requested. After the request, the time at which the packet is forgotten.
        var due: Instant
        var isAsked = false
    }

    /// The maximum number of missing packets that are tracked. A longer gap is not requested, because retransmissions
    /// would not fill it.
    static let maximumCount = 64
    /// The time after which a missing packet is requested. Until then, it may still arrive out of order.
    static let reordering = Duration.milliseconds(10)
    /// A packet that arrives within this time after its request counts as a retransmission.
    private static let memory = Duration.seconds(1)

    init() {}

    /// Adds the `count` packets before `number`, which have not arrived.
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
