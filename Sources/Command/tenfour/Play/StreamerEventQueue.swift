import Glibc
import Synchronization
import TenfourMediaSource
import TenfourPlayer
import TenfourSystem

/// Queues a player's events for polling.
final class StreamerEventQueue: Sendable {
    private let events = Locked<[StreamEvent]>([])
    private let isOver = Atomic<Bool>(false)

    /// Queues events from now on.
    init(_ stream: AsyncStream<StreamEvent>) {
        Task { [weak self] in
            for await event in stream {
                guard let self else { return }
                if case .progress = event { continue }
                events.withLock { $0.append(event) }
            }
            self?.isOver.store(true, ordering: .releasing)
        }
    }

    /// Blocks until all events of a closed player have arrived, at most 1 s.
    func waitForTheEnd() {
        for _ in 0..<100 where !isOver.load(ordering: .acquiring) { usleep(10_000) }
    }

    func take() -> [StreamEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
