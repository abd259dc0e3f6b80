internal import TenfourAudioCore
internal import TenfourPackets

/// What has not come from a talker, until it was asked for: once, when there was time for it to be only late.
struct MissingRanges: Sendable {
    private var gaps: [Gap] = []

    private struct Gap: Sendable {
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
        gaps.removeFirst(max(gaps.count + count - Self.maximumCount, 0))
        for step in (1...count).reversed() {
            gaps.append(Gap(number: number.advanced(by: -step), due: now + Self.reordering))
        }
    }

    mutating func came(_ number: SequenceNumber) { gaps.removeAll { $0.number == number } }

    func isAsked(_ number: SequenceNumber) -> Bool {
        !gaps.isEmpty && gaps.contains { $0.number == number && $0.isAsked }
    }

    mutating func removeAll() { gaps.removeAll() }

    var isEmpty: Bool { gaps.isEmpty }

    var nextDeadline: Instant? { gaps.lazy.map(\.due).min() }

    /// What is to be asked for now, in order.
    mutating func takeQuestions(at now: Instant) -> [SequenceNumber] {
        gaps.removeAll { $0.isAsked && $0.due <= now }
        var numbers: [SequenceNumber] = []
        for index in gaps.indices where gaps[index].due <= now {
            numbers.append(gaps[index].number)
            gaps[index].isAsked = true
            gaps[index].due = now + Self.memory
        }
        return numbers
    }
}
