internal import TenfourMediaSource

/// The observers of a player's events. Each receives the present state and all later events, without repetitions.
struct StreamObservers: Sendable {
    /// The state sent last.
    private var state = StreamState.idle
    /// The index of the item sent last; nil if none was sent.
    private(set) var item: Int?
    /// The title sent last; nil if none was sent.
    private var title: String?

    private var continuations: [Int: AsyncStream<StreamEvent>.Continuation] = [:]
    private var observerCount = 0
    /// Whether all streams have been finished.
    private var isFinished = false

    /// Adds an observer, which receives the present state immediately. When the observer's stream ends, `onTermination`
    /// is called on any thread with the observer's number.
    mutating func addObserver(_ onTermination: @escaping @Sendable (Int) -> Void) -> AsyncStream<StreamEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StreamEvent.self, bufferingPolicy: .bufferingNewest(256))
        continuation.yield(.state(state))
        if isFinished {
            continuation.finish()
            return stream
        }
        observerCount += 1
        let number = observerCount
        continuations[number] = continuation
        continuation.onTermination = { _ in onTermination(number) }
        return stream
    }

    mutating func remove(_ number: Int) { continuations.removeValue(forKey: number) }

    /// Removes all observers and returns their continuations. The caller must finish them outside the lock, since
    /// finishing calls `onTermination`.
    mutating func removeAll() -> [AsyncStream<StreamEvent>.Continuation] {
        defer { (continuations, isFinished) = ([:], true) }
        return Array(continuations.values)
    }

    /// Forgets the item and title sent last, for a new queue.
    mutating func resetItem() { (item, title) = (nil, nil) }

    /// Sends `state` if it differs from the state sent last. Returns whether it was sent.
    mutating func send(_ state: StreamState) -> Bool {
        guard state != self.state else { return false }
        self.state = state
        send(.state(state))
        return true
    }

    mutating func send(item: Int, _ track: Track) {
        guard item != self.item else { return }
        self.item = item
        send(.item(item, track))
        send(title: track.title)
    }

    mutating func send(title: String?) {
        guard let title, title != self.title else { return }
        self.title = title
        send(.title(title))
    }

    func send(_ event: StreamEvent) {
        for continuation in continuations.values { continuation.yield(event) }
    }
}
