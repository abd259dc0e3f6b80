import TenfourDesktop
import TenfourSystem

/// A player that keeps the commands it is given.
final class ControlledPlayer: RemotePlayer {
    private let contents: Locked<(state: RemoteState, commands: [RemoteCommand])>

    init() {
        var state = RemoteState()
        state.status = .playing
        state.position = .seconds(30)
        state.hasNext = true
        state.hasPrevious = true
        state.isSeekable = true
        var item = RemoteItem(id: "0_0")
        item.title = "A title"
        item.length = .seconds(100)
        state.item = item
        contents = Locked((state, []))
    }

    var remoteState: RemoteState {
        get { contents.withLock { $0.state } }
        set { contents.withLock { $0.state = newValue } }
    }

    var commands: [RemoteCommand] { contents.withLock { $0.commands } }

    func perform(_ command: RemoteCommand) -> String? {
        contents.withLock { $0.commands.append(command) }
        return command == .open("gopher://x") ? "gopher: is not supported" : nil
    }
}
