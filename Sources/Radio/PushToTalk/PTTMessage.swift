public import TenfourJSON

/// A command of push to talk, such as `{ "command": "down" }`.
public enum PTTRequest: String, CaseIterable, Sendable {
    /// Hold the microphone as long as the connection lasts.
    case down
    /// As `down`, in an emergency: the talker is interrupted.
    case emergency
    /// Let go what `down` on this connection holds.
    case release
    /// Release what all processes hold, and all toggles.
    case up
    /// As `up` if a process or a toggle holds the microphone; otherwise the session holds it until the next toggle.
    case toggle
    /// Nothing but the answer.
    case status

    /// The line with its end.
    public var line: String { JSON.object([("command", .text(rawValue))]).line + "\n" }
}

extension MicrophoneStatus {
    /// The answer to each request, such as `{ "microphone": "open", "holders": ["keyboard"], "remaining": 171.2 }`.
    public var json: JSON {
        .object([
            ("microphone", .text(state.word)), ("holders", .list(holders.map { .text($0.word) })),
            ("remaining", .decimal(remaining.map { $0 / .seconds(1) }, places: 1)),
        ])
    }
}

extension PushToTalk.State {
    /// The word for programs.
    public var word: String {
        switch self {
        case .closed: "closed"
        case .waiting: "waiting"
        case .open: "open"
        case .refused: "refused"
        case .timedOut: "timed-out"
        }
    }
}

extension PushToTalk.Event {
    /// What a process that holds the microphone or asks for all events is told; nil for what concerns no process.
    var json: JSON? {
        switch self {
        case .opened: .event("opened")
        case .closed(let reason, _): .event("closed", [("reason", .text(reason.word))] + reason.text)
        case .refused(let reason, _): .event("refused", [("reason", .text(reason.word))] + reason.text)
        case .willTimeOut(let time): .event("warning", [("remaining", .decimal(time / .seconds(1), places: 1))])
        case .available: .event("available")
        case .permissionRequested: .event("waiting")
        case .permissionReleased, .emergencyRequested: nil
        }
    }
}

extension JSON {
    fileprivate static func event(_ name: String, _ members: [(String, JSON)] = []) -> JSON {
        .object([("event", .text(name))] + members)
    }

    /// A process is told that another one has released what it held.
    static var releasedByOther: JSON { .event("released") }
    /// A process has asked for all events.
    static var subscribed: JSON { .object([("subscribed", .boolean(true))]) }

    /// A session has begun or ended.
    static func session(isRunning: Bool) -> JSON {
        .event("session", [("state", .text(isRunning ? "running" : "waiting"))])
    }

    /// The answer about the microphone while no session runs.
    static func withoutSession(_ reason: String) -> JSON {
        .object([
            ("microphone", .text("none")), ("holders", .list([])), ("remaining", .null),
            ("waiting", .text(reason)),
        ])
    }

    /// The answer to a request that cannot be met, with a sentence that says why.
    public static func refusal(_ sentence: String) -> JSON { .object([("error", .text(sentence))]) }
}

extension PushToTalk.CloseReason {
    fileprivate var word: String {
        switch self {
        case .released: "released"
        case .vanished: "vanished"
        case .timedOut: "timed-out"
        case .revoked: "revoked"
        }
    }

    fileprivate var text: [(String, JSON)] {
        if case .revoked(let text?) = self { [("text", .text(text))] } else { [] }
    }
}

extension PushToTalk.RefusalReason {
    fileprivate var word: String {
        switch self {
        case .timedOut: "timed-out"
        case .tooManyHolders: "too-many-holders"
        case .permission: "refused"
        }
    }

    fileprivate var text: [(String, JSON)] {
        if case .permission(let text?) = self { [("text", .text(text))] } else { [] }
    }
}
