import TenfourAudioCore
import TenfourClocks
import TenfourCommandSupport
import TenfourFloor
import TenfourPackets
import TenfourPushToTalk
import TenfourRadio
import TenfourSession
import TenfourSystem

/// Connects the microphone with the floor: asks for the floor when the microphone needs it, answers the lease, plays the
/// permit tone, and tells the user who has the floor.
///
/// The lease's observer only passes requests on to the session. The session's answers come on its network thread, and
/// only there is the lease called.
final class FloorNotices: Sendable {
    private let microphone: SharedMicrophone
    private let lease: MicrophoneLease
    private let tones: ToneChoice
    private let playTone: @Sendable (SignalTone) -> Void
    private let state: Locked<State>

    private struct State {
        var names: [TalkerNames]
        var needs: [Bool]
        /// The session that was asked for the floor last.
        var asked = 0
        var isInterrupted = false
        var lines: [String] = []
    }

    private static let mostLines = 64

    /// `asksForFloor` says whether the sessions request the floor from the start. The lease must not be in use yet. `play`
    /// plays a tone.
    init(
        _ microphone: SharedMicrophone, _ lease: MicrophoneLease, _ tones: ToneChoice, asksForFloor: Bool,
        playing play: @escaping @Sendable (SignalTone) -> Void
    ) {
        playTone = play
        self.microphone = microphone
        self.lease = lease
        self.tones = tones
        let count = microphone.sessions.count
        state = Locked(
            State(
                names: Array(repeating: TalkerNames(), count: count),
                needs: Array(repeating: asksForFloor, count: count)))
        lease.setPermission(asksForFloor ? .needed : .notNeeded)
        lease.observe { [weak self] event in self?.apply(event) }
        microphone.observeOwner { [weak self] owner in self?.changeOwner(to: owner) }
        for (index, session) in microphone.sessions.enumerated() {
            session.observeFloor { [weak self] notice in self?.apply(notice, of: index) }
        }
    }

    /// Takes over the names of a session's talkers.
    func update(_ names: TalkerNames, of index: Int = 0) { state.withLock { $0.names[index] = names } }

    /// Returns the lines since the last call.
    func takeLines() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    /// The microphone was given to another session. While it is held, the floor there is requested, and that of the former
    /// session released.
    private func changeOwner(to owner: Int) {
        lease.changeSession(state.withLock { $0.needs[owner] } ? .needed : .notNeeded)
    }

    // MARK: - From the lease

    /// Called with the lease's lock held: must not call the lease.
    private func apply(_ event: PushToTalk.Event) {
        switch event {
        case .permissionRequested: request(isEmergency: false)
        case .emergencyRequested: request(isEmergency: true)
        case .permissionReleased:
            let asked = state.withLock { state in
                state.isInterrupted = false
                return state.asked
            }
            microphone.sessions[asked].releaseFloor()
        case .opened, .closed, .refused, .willTimeOut, .available: break
        }
    }

    private func request(isEmergency: Bool) {
        let owner = microphone.owner
        state.withLock { $0.asked = owner }
        microphone.sessions[owner].requestFloor(isEmergency: isEmergency, at: MonotonicClock.now)
    }

    // MARK: - From the network thread

    private func apply(_ notice: FloorNotice, of index: Int) {
        switch notice {
        case .isNeeded(let isNeeded):
            let isNews = state.withLock { state in
                defer { state.needs[index] = isNeeded }
                return state.needs[index] != isNeeded
            }
            if index == microphone.owner { lease.setPermission(isNeeded ? .needed : .notNeeded) }
            if isNews, isNeeded { add("one talks at a time in this channel: talk when you hear the tone") }
        case .unanswered:
            play(.lost)
            add("nobody answers the request to talk; it is repeated while you hold the key")
        case .event(let event): apply(event, of: index)
        }
    }

    private func apply(_ event: FloorEvent, of index: Int) {
        // The answer to a request of a session that no longer has the microphone.
        if event.isAnswer, index != microphone.owner { return }
        switch event {
        case .granted:
            let wasInterrupted = state.withLock { state in
                defer { state.isInterrupted = false }
                return state.isInterrupted
            }
            if wasInterrupted { add("you are heard again") } else { play(.permit) }
            lease.granted()
        case .denied(let cause, let talker, let pause): lease.revoked(text(of: cause, talker, pause, index))
        case .revoked(let cause, let pause): lease.revoked(text(of: cause, pause))
        case .interrupted:
            state.withLock { $0.isInterrupted = true }
            play(.lost)
            add("nobody grants the floor any more: you are not heard until somebody answers again")
        case .queued(let position, let size):
            add("you are number \(position) of \(size) who wait: talk when you hear the tone, or let go to give up")
        case .taken(let ssrc, .emergency): add("EMERGENCY: \(name(of: ssrc, index)) talks")
        case .unaware:
            add("the other end grants no floor: you can talk while nobody else is heard")
        case .taken, .idle: break
        }
    }

    private func text(of cause: FloorDenial, _ talker: SSRC?, _ pause: Duration, _ index: Int) -> String {
        switch cause {
        case .anotherTalks:
            "\(talker.map { name(of: $0, index) } ?? "another station") talks"
                + (microphone.sessions[index].snapshot?.floor?.isEmergency == true ? " in an emergency" : "")
        case .tooEarly: "you have talked for too long; wait \(Self.text(of: pause))"
        case .mayOnlyListen: "the link only lets you listen"
        case .queueIsFull: "too many wait already"
        case .other: "the relay refuses"
        }
    }

    private func text(of cause: FloorRevocation, _ pause: Duration) -> String {
        switch cause {
        case .tooLong: "you have talked as long as one may; wait \(Self.text(of: pause))"
        case .noPermission: "another relay decides now who talks; press the key again"
        case .preempted: "an emergency takes the floor"
        case .other: "another station has the floor"
        }
    }

    private static func text(of pause: Duration) -> String {
        "\(decimal(max(pause / .seconds(1), 0), places: 1, trimming: true)) s"
    }

    private func name(of ssrc: SSRC, _ index: Int) -> String { state.withLock { $0.names[index][ssrc] } }

    private func add(_ line: String) {
        state.withLock { state in
            if state.lines.count >= Self.mostLines { state.lines.removeFirst() }
            state.lines.append(line)
        }
    }

    private func play(_ tone: SignalTone) { if tones.tones.contains(tone) { playTone(tone) } }
}

extension FloorEvent {
    /// Whether it concerns a request of this station.
    fileprivate var isAnswer: Bool {
        switch self {
        case .granted, .denied, .revoked, .interrupted, .queued: true
        case .taken, .idle, .unaware: false
        }
    }
}

extension FloorSnapshot {
    /// A field of the status line.
    struct Part: Equatable {
        var text: StatusText
        /// The text where there is little room.
        var short: StatusText?
        var rank: Int
    }

    /// The part of the status line about the floor; nil if there is nothing to say.
    func part(_ names: TalkerNames) -> Part? {
        let rank = StatusFields.alert
        switch state {
        case .queued(let position, let size):
            // A station that waits must see that its turn comes.
            return Part(
                text: "waiting, \(position) of \(size)", short: "queue \(position)/\(size)",
                rank: StatusFields.essential)
        case .pendingRequest: return Part(text: "asking for the floor", short: "asking", rank: rank)
        case .permission where isNeeded:
            let words: StatusText = isEmergency ? "EMERGENCY: you have the floor" : "you have the floor"
            return Part(text: "\(words)\(time)", short: isEmergency ? "EMERGENCY" : "floor\(time)", rank: rank)
        case .permission, .noPermission, .pendingRelease:
            guard let name = talker.map({ names.text(of: $0) }) else { return nil }
            guard !isEmergency else { return Part(text: "EMERGENCY: \(name)\(time)", short: "EMERGENCY", rank: rank) }
            return Part(text: "\(name) has the floor\(time)", short: "floor \(name)\(time)", rank: rank)
        }
    }

    /// The time for which the floor is held, such as ` 0:12`.
    private var time: String {
        guard let seconds = heldFor.map({ max(Int($0 / .seconds(1)), 0) }) else { return "" }
        return " \(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}
