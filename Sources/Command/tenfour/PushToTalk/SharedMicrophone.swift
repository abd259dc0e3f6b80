import TenfourAudioCore
import TenfourRadio
import TenfourSystem

/// The sessions that share the user's microphone, of which it belongs to one at a time. Any thread may use it.
final class SharedMicrophone: Sendable {
    /// All sessions. The first is the one that the talk began with, to which the microphone belongs at first.
    let sessions: [RadioSession]
    /// The names of the sessions, by the same index, and whether the user can talk in them.
    let channels: [Channel]
    /// Whether the loudspeaker is silent while the microphone is open.
    private let isHalfDuplex: Bool
    private let state = Locked(State())
    private let ownerObserver = Locked<(@Sendable (Int) -> Void)?>(nil)

    struct Channel: Sendable {
        let name: String
        /// Why the microphone cannot be given to it; nil if it can.
        let obstacle: String?
    }

    private struct State {
        var owner = 0
        var isOpen = false
        /// The index of the session that was heard last.
        var heard = 0
    }

    init(_ sessions: [RadioSession], _ channels: [Channel], isHalfDuplex: Bool) {
        self.sessions = sessions
        self.channels = channels
        self.isHalfDuplex = isHalfDuplex
        for session in sessions.dropFirst() { session.needsCapture = false }
        for session in sessions { session.setHeardTogether(with: sessions.filter { $0 !== session }) }
    }

    /// The index of the session that the microphone belongs to.
    var owner: Int { state.withLock(\.owner) }
    var isOpen: Bool { state.withLock(\.isOpen) }

    /// Opens or closes the microphone of the session that it belongs to.
    func set(isOpen: Bool) { change { $0.isOpen = isOpen } }

    /// Gives the microphone to another session. If it is open, it is open there.
    func give(to owner: Int) {
        let old = change { $0.owner = owner }.owner
        if old != owner, let observe = ownerObserver.withLock({ $0 }) { observe(owner) }
    }

    /// Calls `observer` with the index of the new owner after each change, on the thread that makes it.
    func observeOwner(_ observer: @escaping @Sendable (Int) -> Void) {
        ownerObserver.withLock { $0 = observer }
    }

    /// Returns the state before.
    @discardableResult
    private func change(_ change: (inout State) -> Void) -> State {
        state.withLock { state in
            let old = state
            change(&state)
            for (index, session) in sessions.enumerated() {
                let isOwner = index == state.owner
                // The session of the microphone is muted by its own half duplex, which considers the floor.
                session.isMutedByOtherSession = isHalfDuplex && state.isOpen && !isOwner
                session.needsCapture = isOwner
                session.isMicrophoneOpen = state.isOpen && isOwner
            }
            return old
        }
    }

    /// The level that the session captures that the microphone belongs to, as `RadioSession.capturedLevel`.
    var capturedLevel: (level: Level, number: UInt32) { sessions[owner].capturedLevel }

    /// The session that was heard last; the first one before anybody was heard.
    var heard: RadioSession { sessions[state.withLock(\.heard)] }

    /// Sets which session was heard last.
    func setHeard(_ index: Int) { state.withLock { $0.heard = index } }

    func stopReplays() { for session in sessions where session.isReplaying { session.stopReplay() } }
}
