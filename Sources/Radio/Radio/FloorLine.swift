internal import Synchronization
internal import TenfourAudioCore
internal import TenfourFloor
internal import TenfourPackets

/// The floor of a session: passes presses and releases to the channel's participant, or to the call's, and the answers
/// back. Use it on the network thread only.
///
/// After each input call `flush`, until it returns false.
struct FloorLine {
    private let use: FloorUse
    private let controls: Controls
    private let channel: ChannelLine?
    /// The floor of a session without a channel; nil if there is none.
    private(set) var call: CallFloor?
    private let tail: Duration
    /// The observer has been told that the floor is needed.
    private var toldNeed: Bool?
    /// The microphone waits for the floor, or has it.
    private var isHeld = false
    private var pressedAt = Instant.start
    /// The time at which the floor is released: the last packets are still on their way from the capture thread.
    private var releaseDue: Instant?
    /// The time at which the user is told that no answer comes.
    private var answerDue: Instant?

    /// The one who has the floor, and since when this station knows of it.
    private var holder: Holder?
    private var heldSince = Instant.start

    private struct Holder: Equatable { var ssrc: SSRC? }

    private static let patience = Duration.seconds(1)

    /// `role` is nil in a session that has more than one partner, or none.
    init(
        _ use: FloorUse, _ controls: Controls, _ channel: ChannelLine?, as role: CallFloor.Role?, ssrc: SSRC,
        frame: Duration, at now: Instant
    ) {
        self.use = use
        self.controls = controls
        self.channel = channel
        tail = frame * 2 + .milliseconds(10)
        if channel == nil, let role, case .always = use { call = CallFloor(ssrc: ssrc, as: role, at: now) }
    }

    private var participant: FloorParticipant? { call?.participant ?? channel?.floor }

    private var isNeeded: Bool {
        switch use {
        case .none: false
        case .ifRequired: participant?.isRequired ?? false
        case .always: participant != nil
        }
    }

    /// Whether media may be sent now. Without an observer nobody would request the floor.
    var maySend: Bool {
        guard isNeeded, controls.floor.observer != nil, let participant else { return true }
        return participant.maySend
    }

    /// The one who has the floor: this station, if the SSRC is nil; nil if nobody has.
    private var present: Holder? {
        participant.flatMap { $0.state == .permission ? Holder(ssrc: nil) : $0.talker.map { Holder(ssrc: $0) } }
    }

    func snapshot(at now: Instant) -> FloorSnapshot? {
        guard use != .none, let participant else { return nil }
        return FloorSnapshot(
            isNeeded: isNeeded, state: participant.state, talker: participant.talker,
            isEmergency: (participant.state == .permission ? participant.priority : participant.talkerPriority)
                == .emergency, heldFor: holder == nil ? nil : now - heldSince, otherEnd: participant.otherEnd)
    }

    var nextDeadline: Instant? { [releaseDue, answerDue, call?.nextDeadline].compactMap(\.self).min() }

    // MARK: - Input

    mutating func setSSRC(_ ssrc: SSRC, at now: Instant) { call?.setSSRC(ssrc, at: now) }
    mutating func heardMedia(of ssrc: SSRC, at now: Instant) { call?.heardMedia(of: ssrc, at: now) }
    mutating func left(_ ssrc: SSRC, at now: Instant) { call?.left(ssrc, at: now) }

    /// Takes the bytes of a message that the other station of a call has sent. Ignores what is no message.
    mutating func receive(_ bytes: Span<UInt8>, from ssrc: SSRC, at now: Instant) {
        guard let message = try? FloorMessage(parsing: bytes) else { return }
        call?.receive(message, from: ssrc, at: now)
    }

    /// Takes the presses and releases of other threads.
    mutating func takeCommands(at now: Instant) {
        for command in controls.floor.takeCommands() {
            switch command {
            case .press(let priority, let time): press(priority, pressed: time, at: now)
            case .release: release(at: now)
            }
        }
    }

    mutating func timeElapsed(at now: Instant) {
        if let due = releaseDue, due <= now {
            releaseDue = nil
            releaseNow(at: now)
        }
        if let due = answerDue, due <= now {
            answerDue = nil
            // While the other end is unknown, no answer may mean that it knows no floor control. The participant finds out.
            if let participant, participant.state == .pendingRequest, participant.otherEnd != .unknown {
                report(.unanswered)
            }
        }
        if let due = call?.nextDeadline, due <= now { call?.timeElapsed(at: now) }
    }

    private mutating func press(_ priority: FloorPriority, pressed time: Instant, at now: Instant) {
        isHeld = true
        if releaseDue != nil {
            releaseDue = nil
            // The key is down again before the floor was released.
            if let participant, participant.maySend { report(.event(.granted(participant.priority, until: nil))) }
        } else if participant?.state != .permission {
            pressedAt = time
            answerDue = now + Self.patience
        }
        let waits = use == .always(waits: true)
        if channel == nil {
            call?.press(priority, waits: waits, at: now)
        } else {
            channel?.pressFloor(priority, waits: waits, at: now)
        }
    }

    private mutating func release(at now: Instant) {
        isHeld = false
        answerDue = nil
        if participant?.state == .permission { releaseDue = now + tail } else { releaseNow(at: now) }
    }

    private mutating func releaseNow(at now: Instant) {
        if channel == nil { call?.release(at: now) } else { channel?.releaseFloor(at: now) }
    }

    // MARK: - Output

    /// Reports what has happened. Returns whether there was anything.
    mutating func flush(at now: Instant) -> Bool {
        var hasReported = false
        if use != .none, toldNeed != isNeeded, controls.floor.observer != nil {
            let isFirst = toldNeed == nil
            toldNeed = isNeeded
            if !isFirst || isNeeded { report(.isNeeded(isNeeded)) }
        }
        while let event = channel?.nextFloorEvent() ?? call?.nextEvent() {
            hasReported = true
            if case .granted = event {
                let wait = now - pressedAt
                let sent = isHeld && wait <= FloorControls.longestWait ? wait : .zero
                controls.floorWait.store(Int(sent / .milliseconds(1)), ordering: .relaxed)
            }
            // What only the channel's arbiter says matters to those who need the floor.
            if isNeeded { report(.event(event)) }
            if event != .idle { answerDue = nil }
        }
        controls.floor.maySend.store(maySend, ordering: .relaxed)
        if present != holder { (holder, heldSince) = (present, now) }
        return hasReported
    }

    /// The bytes of the next message to the other station of a call.
    mutating func nextMessage() -> [UInt8]? {
        call?.nextMessage().map { message in
            [UInt8](capacity: FloorMessage.byteCount) { message.write(into: &$0) }
        }
    }

    private func report(_ notice: FloorNotice) { controls.floor.observer?(notice) }
}
