public import TenfourAudioCore
internal import TenfourPackets

extension FloorParticipant {
    /// Begins a session with an arbiter, or with one that has started anew. A key that is down requests the floor again.
    public mutating func begin(at now: Instant) {
        otherEnd = .unknown
        ask(at: now)
        if isPressed, state != .noPermission { requestAnew(at: now) } else { rest() }
    }

    /// Another station takes the place of one that knew no floor control. It is asked whether it arbitrates. Until it
    /// answers, the station goes on deciding alone, and keeps its permission.
    mutating func continueAlone(at now: Instant) {
        otherEnd = .unaware
        permissionEnd = nil
        ask(at: now)
        if state != .permission { rest() }
    }

    /// Forgets what the arbiter before has said, and asks the other end whether it arbitrates and who has the floor.
    private mutating func ask(at now: Instant) {
        heard = FloorRevision()
        grantedBy = FloorRevision()
        isRequired = false
        lastTaken = nil
        setTalker(nil, .normal)
        verdict = now + FloorTiming.noArbiter
        questions = FloorRepetition(from: now, FloorTiming.questions, then: nil)
        outgoing.append(.queuePositionRequest(number: 0, ssrc))
    }

    /// The key goes down. `waits`: the request waits in the queue if another talks. While the station has the floor or
    /// waits for it, an emergency raises the priority.
    public mutating func press(_ wanted: FloorPriority = .normal, waits: Bool = false, at now: Instant) {
        isPressed = true
        self.waits = waits
        switch state {
        case .noPermission, .pendingRelease:
            priority = wanted
            isInterrupted = false
            if otherEnd == .unaware { decideAlone(at: now) } else { requestAnew(at: now) }
        case .pendingRequest, .queued, .permission:
            guard wanted > priority else { return }
            priority = wanted
            if otherEnd != .unaware { sendRequest() }
        }
    }

    /// The key goes up, or the last packet was sent. The floor is released, or the request taken back.
    public mutating func release(at now: Instant) {
        isPressed = false
        guard state != .noPermission, state != .pendingRelease else { return }
        if otherEnd == .unaware { return rest() }
        state = .pendingRelease
        permissionEnd = nil
        isInterrupted = false
        outgoing.append(.release(number: number, ssrc))
        repetition = FloorRepetition(
            from: now, FloorTiming.repetitions, then: FloorTiming.repetitionInterval)
        releaseEnd = now + FloorTiming.releaseEnd
    }

    /// Takes note of media of another station. It matters only if the other end knows no floor control.
    public mutating func heardMedia(at now: Instant) { lastMedia = now }

    mutating func requestAnew(at now: Instant) {
        number = number == .max ? 1 : number + 1
        grantedBy = FloorRevision()
        isInterrupted = false
        state = .pendingRequest
        permissionEnd = nil
        releaseEnd = nil
        sendRequest()
        repetition = FloorRepetition(
            from: now, FloorTiming.repetitions, then: FloorTiming.repetitionInterval)
    }

    mutating func sendRequest() {
        outgoing.append(
            .request(
                number: number, ssrc, priority, waits: waits, sends: state == .permission || isInterrupted))
    }

    /// Nothing is wanted, granted or repeated any more.
    mutating func rest() {
        state = .noPermission
        permissionEnd = nil
        repetition = nil
        releaseEnd = nil
        isInterrupted = false
    }

    /// Without an arbiter the floor is free while nobody is heard.
    mutating func decideAlone(at now: Instant) {
        rest()
        if let lastMedia, now - lastMedia < FloorTiming.partnerHeard {
            events.append(.denied(.anotherTalks, talker: nil, retryAfter: .zero))
        } else {
            state = .permission
            events.append(.granted(priority, until: nil))
        }
    }

    mutating func setTalker(_ ssrc: SSRC?, _ priority: FloorPriority) {
        guard ssrc != talker || priority != talkerPriority else { return }
        (talker, talkerPriority) = (ssrc, priority)
        events.append(ssrc.map { .taken(by: $0, priority) } ?? .idle)
    }
}
