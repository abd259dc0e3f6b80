/// A queue of events that the caller has not taken yet, first in, first out.
struct RelayEventQueue: Sendable {
    private var events: [RelayEvent] = []
    private var takenCount = 0

    /// The queue keeps its memory when it becomes empty after at most this many events. After more events, it frees the
    /// memory.
    private static let keptCount = 256

    mutating func post(_ event: RelayEvent) { events.append(event) }

    mutating func next() -> RelayEvent? {
        guard takenCount < events.count else { return nil }
        defer {
            takenCount += 1
            if takenCount == events.count {
                events.removeAll(keepingCapacity: events.count <= Self.keptCount)
                takenCount = 0
            }
        }
        return events[takenCount]
    }
}
