internal import TenfourMediaSource

/// Those who listen to the events of a streamer: each is told what happens from its beginning on, and nothing twice.
struct StreamObservers: Sendable {
    /// As they were last told.
    private var state = StreamState.idle
    private(set) var item: Int?
    private var title: String?

    private var listeners: [Int: AsyncStream<StreamEvent>.Continuation] = [:]
    private var listenerCount = 0
    /// Whether nothing will be told any more.
    private var isDismissed = false

    /// One more, who is told the state at once. `leave` is called with its number when it listens no longer, on any thread.
    mutating func admit(_ leave: @escaping @Sendable (Int) -> Void) -> AsyncStream<StreamEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StreamEvent.self, bufferingPolicy: .bufferingNewest(256))
        continuation.yield(.state(state))
        if isDismissed {
            continuation.finish()
            return stream
        }
        listenerCount += 1
        let number = listenerCount
        listeners[number] = continuation
        continuation.onTermination = { _ in leave(number) }
        return stream
    }

    mutating func dismiss(_ number: Int) { listeners.removeValue(forKey: number) }

    /// Nobody is told anything any more. To finish those that are returned is to have them leave, so not within a lock.
    mutating func dismissAll() -> [AsyncStream<StreamEvent>.Continuation] {
        defer { (listeners, isDismissed) = ([:], true) }
        return Array(listeners.values)
    }

    /// Another queue begins.
    mutating func forgetItem() { (item, title) = (nil, nil) }

    /// Returns whether it is news.
    mutating func tell(_ state: StreamState) -> Bool {
        guard state != self.state else { return false }
        self.state = state
        tell(.state(state))
        return true
    }

    mutating func tell(item: Int, _ track: Track) {
        guard item != self.item else { return }
        self.item = item
        tell(.item(item, track))
        tell(title: track.title)
    }

    mutating func tell(title: String?) {
        guard let title, title != self.title else { return }
        self.title = title
        tell(.title(title))
    }

    func tell(_ event: StreamEvent) {
        for listener in listeners.values { listener.yield(event) }
    }
}
