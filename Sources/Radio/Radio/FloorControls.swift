internal import Synchronization
internal import TenfourAudioCore
internal import TenfourFloor
internal import TenfourSystem

/// The requests of other threads about the floor, and the observer to which the network thread reports.
final class FloorControls: Sendable {
    enum Command: Sendable {
        /// The key went down at this time.
        case press(FloorPriority, Instant)
        case release
    }

    private struct Contents {
        var commands: [Command] = []
        var observer: (@Sendable (FloorNotice) -> Void)?
    }

    /// Whether the session has the floor, or needs none. The loudspeaker is muted in half duplex only then.
    let maySend = Atomic<Bool>(true)
    private let hasCommands = Atomic<Bool>(false)
    private let contents = Locked(Contents())

    /// The longest wait for the floor whose captured audio is sent. After a longer one the user has waited for the tone,
    /// and begins to talk only then.
    static let longestWait = Duration.milliseconds(350)
    private static let mostCommands = 64

    func append(_ command: Command) {
        contents.withLock { contents in
            // The oldest is dropped, because the last command decides whether the key is down.
            if contents.commands.count >= Self.mostCommands { contents.commands.removeFirst() }
            contents.commands.append(command)
        }
        hasCommands.store(true, ordering: .releasing)
    }

    /// Takes the commands since the last call. Takes no lock if there are none.
    func takeCommands() -> [Command] {
        guard hasCommands.exchange(false, ordering: .acquiring) else { return [] }
        return contents.withLock { contents in
            defer { contents.commands = [] }
            return contents.commands
        }
    }

    func setObserver(_ observer: @escaping @Sendable (FloorNotice) -> Void) {
        contents.withLock { $0.observer = observer }
    }

    /// The observer is called without the lock, because it may call the session.
    var observer: (@Sendable (FloorNotice) -> Void)? { contents.withLock { $0.observer } }
}
