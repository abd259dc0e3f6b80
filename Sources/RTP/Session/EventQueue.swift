/// A queue of events for the caller. When 256 events are waiting, the oldest is dropped.
struct EventQueue: Sendable {
    private var events: [Event] = []

    static let maximumCount = 256

    mutating func post(_ event: Event) {
        if events.count == Self.maximumCount { events.removeFirst() }
        events.append(event)
    }

    mutating func next() -> Event? { events.isEmpty ? nil : events.removeFirst() }
}
