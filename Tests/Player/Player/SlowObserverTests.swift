import TenfourAudioCore
import TenfourMediaSource
import Testing

@testable import TenfourPlayer

/// Observers that read more slowly than events come.
@Suite struct SlowObserverTests {
    private static func progress(_ seconds: Int) -> StreamEvent {
        var progress = StreamProgress()
        progress.played = .seconds(seconds)
        return .progress(progress)
    }

    private static func all(_ stream: AsyncStream<StreamEvent>) async -> [StreamEvent] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    @Test func aSlowObserverLosesProgressAndNoState() async {
        var observers = StreamObservers()
        let stream = observers.addObserver()
        var states: [StreamState] = [.idle]
        for second in 0..<300 {
            let state: StreamState = second % 2 == 0 ? .playing : .buffering(.underrun)
            states.append(state)
            let isSent = observers.send(state)
            #expect(isSent)
            for _ in 0..<10 { observers.send(Self.progress(second)) }
        }
        _ = observers.send(.ended(.finished))
        observers.finish()
        let events = await Self.all(stream)
        #expect(
            events.compactMap { if case .state(let state) = $0 { state } else { nil } } == states + [.ended(.finished)])
        #expect(events.filter { if case .progress = $0 { true } else { false } } == [Self.progress(299)])
        #expect(events.suffix(2) == [Self.progress(299), .state(.ended(.finished))])
    }

    @Test func theLastOfEachKindArrivesHoweverManyComeAfterIt() async {
        var observers = StreamObservers()
        let stream = observers.addObserver()
        observers.send(item: 3, at: 3, Track(codec: "coded", format: .mono, title: "A title"))
        _ = observers.send(.paused)
        for number in 0..<5_000 { observers.send(.skipped(number, .unusable("no"))) }
        observers.finish()
        let events = await Self.all(stream)
        #expect(events.count == EventMailbox.capacity)
        #expect(events.contains(.state(.paused)) && events.contains(.title("A title")))
        #expect(events.contains { if case .item(3, _) = $0 { true } else { false } })
        #expect(!events.contains(.state(.idle)), "the state before the last one was dropped first")
        #expect(events.last == .skipped(4_999, .unusable("no")))
    }

    @Test func anObserverThatWaitsGetsEachEventAtOnce() async {
        let mailbox = EventMailbox()
        async let first = mailbox.next()
        mailbox.post(.queue)
        #expect(await first == .queue)
        mailbox.finish()
        mailbox.post(.queue)
        #expect(await mailbox.next() == nil)
    }

    @Test func aReleasedStreamIsForgottenAndACancelledReaderEnds() async {
        var observers = StreamObservers()
        do { _ = observers.addObserver() }
        #expect(observers.count == 0)
        let stream = observers.addObserver()
        let reader = Task { await Self.all(stream).count }
        reader.cancel()
        #expect(await reader.value <= 1)
    }
}
