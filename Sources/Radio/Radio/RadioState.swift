internal import TenfourAudioCore
internal import TenfourChannelMember
internal import TenfourSession
internal import TenfourSystem

/// The state that a session's threads publish to its owner.
final class RadioState: Sendable {
    private struct Contents {
        var snapshot: RadioSnapshot?
        var publication: Instant?
        var events: [Event] = []
        var channelEvents: [ChannelEvent] = []
        var failure: RadioError?
    }

    private let contents = Locked(Contents())

    /// The maximum number of events that are stored for the session's owner. If there are more, the oldest are dropped.
    private static let maximumEventCount = 1_024

    func publish(_ snapshot: RadioSnapshot, at now: Instant) {
        contents.withLock { ($0.snapshot, $0.publication) = (snapshot, now) }
    }

    func post(_ event: Event) {
        contents.withLock { contents in
            if contents.events.count == Self.maximumEventCount { contents.events.removeFirst() }
            contents.events.append(event)
        }
    }

    func post(_ event: ChannelEvent) {
        contents.withLock { contents in
            if contents.channelEvents.count == Self.maximumEventCount { contents.channelEvents.removeFirst() }
            contents.channelEvents.append(event)
        }
    }

    /// Records the failure that ends the session. Only the first failure is kept.
    func fail(_ error: RadioError) { contents.withLock { $0.failure = $0.failure ?? error } }

    var snapshot: RadioSnapshot? { contents.withLock { $0.snapshot } }
    var publication: Instant? { contents.withLock { $0.publication } }
    var failure: RadioError? { contents.withLock { $0.failure } }

    func takeEvents() -> [Event] {
        contents.withLock { contents in
            defer { contents.events.removeAll() }
            return contents.events
        }
    }

    func takeChannelEvents() -> [ChannelEvent] {
        contents.withLock { contents in
            defer { contents.channelEvents.removeAll() }
            return contents.channelEvents
        }
    }

    /// Whether no talker's audio plays or is queued.
    var isSilent: Bool {
        contents.withLock { $0.snapshot?.talkers.allSatisfy { !$0.isHeard } ?? true }
    }
}
