internal import TenfourMediaSource
internal import TenfourSystem

/// The events that wait for one observer, which may be slower than they come.
///
/// Of progress, only the newest waits. At most `capacity` other events wait; beyond that, the oldest event that is
/// followed by another of its kind is dropped. So the last event of each kind is always delivered: the last state above
/// all. For any thread; nothing blocks.
final class EventMailbox: Sendable {
    private struct Contents: Sendable {
        var events: [StreamEvent] = []
        /// The readers that wait for an event. There is one, unless several tasks iterate over one stream.
        var readers: [CheckedContinuation<StreamEvent?, Never>] = []
        var isFinished = false
    }

    private let contents = Locked(Contents())

    /// The largest number of events that wait. It exceeds the number of kinds, so that an event to drop is always found.
    static let capacity = 1_024

    /// Adds an event. Does nothing after `finish`.
    func post(_ event: StreamEvent) {
        let reader = contents.withLock { contents -> CheckedContinuation<StreamEvent?, Never>? in
            if contents.isFinished { return nil }
            if !contents.readers.isEmpty { return contents.readers.removeFirst() }
            contents.events.add(event, capacity: Self.capacity)
            return nil
        }
        reader?.resume(returning: event)
    }

    /// Ends the stream after the events that wait.
    func finish() {
        let readers = contents.withLock { contents in
            defer { (contents.readers, contents.isFinished) = ([], true) }
            return contents.readers
        }
        for reader in readers { reader.resume(returning: nil) }
    }

    /// Returns the next event, and waits for it; nil at the end.
    func next() async -> StreamEvent? {
        await withCheckedContinuation { reader in
            let ready = contents.withLock { contents -> StreamEvent?? in
                if !contents.events.isEmpty { return .some(contents.events.removeFirst()) }
                if contents.isFinished { return .some(nil) }
                contents.readers.append(reader)
                return nil
            }
            if let ready { reader.resume(returning: ready) }
        }
    }
}

extension [StreamEvent] {
    /// Appends an event by the rule of `EventMailbox`.
    fileprivate mutating func add(_ event: StreamEvent, capacity: Int) {
        if case .progress = event, let older = lastIndex(where: { $0.kind == .progress }) { remove(at: older) }
        append(event)
        guard count > capacity else { return }
        var later: Set<StreamEvent.Kind> = []
        let repeated = indices.reversed().filter { !later.insert(self[$0].kind).inserted }
        if let oldest = repeated.last { remove(at: oldest) }
    }
}

extension StreamEvent {
    fileprivate enum Kind: Hashable { case state, progress, item, title, skipped, queue, notice, seekRefused }

    fileprivate var kind: Kind {
        switch self {
        case .state: .state
        case .progress: .progress
        case .item: .item
        case .title: .title
        case .skipped: .skipped
        case .queue: .queue
        case .notice: .notice
        case .seekRefused: .seekRefused
        }
    }
}
