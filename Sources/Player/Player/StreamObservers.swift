internal import TenfourMediaSource

/// The observers of a player's events. Each receives the present state and all later events, without repetitions.
struct StreamObservers: Sendable {
    /// The state sent last.
    private var state = StreamState.idle
    /// The number of the item sent last; nil if none was sent.
    private(set) var item: Int?
    /// The title sent last; nil if none was sent.
    private var title: String?

    /// The mailboxes of the observers' streams, which own them.
    private var mailboxes: [WeakMailbox] = []
    /// Whether all streams have been finished.
    private var isFinished = false

    private struct WeakMailbox: Sendable {
        weak let mailbox: EventMailbox?
    }

    /// Adds an observer, which receives the present state immediately. It is forgotten when its stream is released.
    mutating func addObserver() -> AsyncStream<StreamEvent> {
        let mailbox = EventMailbox()
        mailbox.post(.state(state))
        if isFinished { mailbox.finish() }
        mailboxes.removeAll { $0.mailbox == nil }
        mailboxes.append(WeakMailbox(mailbox: mailbox))
        return AsyncStream {
            await mailbox.next()
        } onCancel: {
            mailbox.finish()
        }
    }

    /// The number of observers whose streams exist.
    var count: Int { mailboxes.count { $0.mailbox != nil } }

    /// Ends all streams after the events that wait in them.
    mutating func finish() {
        for entry in mailboxes { entry.mailbox?.finish() }
        (mailboxes, isFinished) = ([], true)
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

    /// Sends the item with the number `item`, which has the index `index` in the queue, if another one was sent last.
    mutating func send(item: Int, at index: Int, _ track: Track) {
        guard item != self.item else { return }
        self.item = item
        send(.item(index, track))
        send(title: track.title)
    }

    mutating func send(title: String?) {
        guard let title, title != self.title else { return }
        self.title = title
        send(.title(title))
    }

    func send(_ event: StreamEvent) {
        for entry in mailboxes { entry.mailbox?.post(event) }
    }
}
