import TenfourCommandSupport
import TenfourPushToTalk
import TenfourSystem

/// The notices for the user about what happened to the microphone. Any thread may use it.
final class MicrophoneNotices: Sendable {
    private let timeOut: Duration?
    private let events = Locked<[PushToTalk.Event]>([])

    /// `timeOut` is the longest transmission; nil if it has no limit.
    init(timeOut: Duration?) { self.timeOut = timeOut }

    func record(_ event: PushToTalk.Event) { events.withLock { $0.append(event) } }

    /// Returns the notices since the last call. `hasLeftTerminal` says whether the terminal has lost the focus since its
    /// key was last reported.
    func take(hasLeftTerminal: Bool) -> [String] {
        let events = events.withLock { events in
            defer { events = [] }
            return events
        }
        return events.compactMap { notice(of: $0, hasLeftTerminal) }
    }

    private func notice(of event: PushToTalk.Event, _ hasLeftTerminal: Bool) -> String? {
        switch event {
        case .willTimeOut(let time):
            "the microphone closes in \(Self.text(of: time)): let go, or start with a longer --time-out"
        case .closed(.timedOut, _):
            "the microphone was open for \(timeOut.map { Self.text(of: $0) } ?? "too long"), and is closed: let go, and talk again after 2 s"
        case .closed(.revoked(let reason), _): "the microphone is closed" + (reason.map { ": \($0)" } ?? "")
        case .closed(.vanished, .device(let name)): "\(name) is gone: the microphone is closed"
        case .closed(.vanished, .keyboard) where !hasLeftTerminal:
            "space no longer repeats: the microphone is closed; if key repeat is off, use tenfour ptt"
        case .refused(.timedOut, let holder):
            "the microphone stays closed for \(holder): it can be opened 2 s after all have let go"
        case .refused(.tooManyHolders, let holder): "too many hold the microphone: \(holder) is ignored"
        case .refused(.permission(let reason), _): "you cannot talk now" + (reason.map { ": \($0)" } ?? "")
        case .available: "the microphone can be opened again"
        case .opened, .closed, .permissionRequested, .permissionReleased, .emergencyRequested: nil
        }
    }

    /// Formats a time as `3 min` or `90 s`.
    private static func text(of time: Duration) -> String {
        let seconds = time / .seconds(1)
        return seconds >= 60 && seconds.truncatingRemainder(dividingBy: 60) == 0
            ? "\(Int(seconds) / 60) min" : "\(decimal(seconds, places: 1, trimming: true)) s"
    }
}
