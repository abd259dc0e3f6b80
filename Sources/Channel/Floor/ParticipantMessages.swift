public import TenfourAudioCore
internal import TenfourPackets

extension FloorParticipant {
    /// Takes a message of the arbiter. One that only a participant sends is ignored, as are earlier decisions that
    /// arrive late.
    public mutating func receive(_ message: FloorMessage, at now: Instant) {
        guard let revision = message.revision, revision >= heard else { return }
        heard = revision
        arbiterIsHeard(at: now)
        switch message {
        case .granted(let number, _, let priority, _, let time, let mustAnswer):
            granted(number, priority, time: time, mustAnswer: mustAnswer, at: now)
        case .taken(let answered, let ssrc, let priority, _, _, let conditions):
            isRequired = conditions.contains(.isRequired)
            taken(by: ssrc, priority, answering: answered, at: now)
        case .idle(let answered, _, let conditions):
            isRequired = conditions.contains(.isRequired)
            idle(answering: answered, at: now)
        case .denied(let number, let cause, let talker, let priority, _, let time):
            denied(number, cause, talker, priority, time: time, at: now)
        case .revoke(let number, _, let cause, _, let time): revoked(number, cause, time: time)
        case .queuePosition(let number, let talker, _, _, let position, let size):
            queued(number, talker, position: Int(position), size: Int(size), at: now)
        case .request, .release, .queuePositionRequest: break
        }
    }

    /// A message of an arbiter ends what a station decides alone.
    private mutating func arbiterIsHeard(at now: Instant) {
        questions = nil
        verdict = nil
        guard otherEnd != .arbitrates else { return }
        let decidedAlone = otherEnd == .unaware && state == .permission
        otherEnd = .arbitrates
        if decidedAlone { requestAnew(at: now) }
    }

    private mutating func granted(
        _ granted: UInt32, _ priority: FloorPriority, time: UInt32, mustAnswer: Bool, at now: Instant
    ) {
        // The arbiter does not know yet that this request is over.
        guard granted == number, state != .noPermission else {
            outgoing.append(.release(number: granted, ssrc))
            return
        }
        guard state != .pendingRelease else { return }
        lastGrant = now
        grantedBy = heard
        permissionEnd = time == 0 ? nil : now + .milliseconds(Int(time))
        talker = nil
        lastTaken = nil
        if state != .permission {
            state = .permission
            repetition = nil
            isInterrupted = false
            self.priority = priority
            events.append(.granted(priority, until: permissionEnd))
        }
        if mustAnswer { sendRequest() }
    }

    private mutating func taken(
        by ssrc: SSRC, _ priority: FloorPriority, answering answered: UInt32, at now: Instant
    ) {
        guard ssrc != self.ssrc else { return }
        lastTaken = now
        setTalker(ssrc, priority)
        switch state {
        case .permission where heard > grantedBy:
            let cause = priority > self.priority ? FloorRevocation.preempted : .other
            rest()
            events.append(.revoked(cause, retryAfter: .zero))
        case .pendingRequest where answered == number, .queued where answered == number: requestAnew(at: now)
        case .pendingRelease where answered == number || heard > grantedBy && grantedBy.state > 0: rest()
        default: break
        }
    }

    private mutating func idle(answering answered: UInt32, at now: Instant) {
        lastTaken = nil
        setTalker(nil, .normal)
        switch state {
        case .permission where heard.term > grantedBy.term:
            // Another relay arbitrates now. It may let this station go on.
            sendRequest()
        case .permission where heard > grantedBy:
            events.append(.interrupted)
            requestAnew(at: now)
        case .pendingRequest where answered == number, .queued where answered == number: requestAnew(at: now)
        case .pendingRelease where answered == number || heard > grantedBy && grantedBy.state > 0: rest()
        default: break
        }
    }

    private mutating func denied(
        _ denied: UInt32, _ cause: FloorDenial, _ talker: SSRC?, _ priority: FloorPriority, time: UInt32,
        at now: Instant
    ) {
        guard denied == number else { return }
        switch state {
        case .pendingRequest, .queued:
            if let talker, talker != ssrc {
                lastTaken = now
                setTalker(talker, priority)
            }
            rest()
            events.append(.denied(cause, talker: self.talker, retryAfter: .milliseconds(Int(time))))
        case .pendingRelease: rest()
        case .noPermission, .permission: break
        }
    }

    private mutating func revoked(_ revoked: UInt32, _ cause: FloorRevocation, time: UInt32) {
        guard revoked == number else { return }
        outgoing.append(.release(number: number, ssrc))
        let wasTalking = state != .noPermission && state != .pendingRelease
        rest()
        if wasTalking { events.append(.revoked(cause, retryAfter: .milliseconds(Int(time)))) }
    }

    private mutating func queued(_ queued: UInt32, _ talker: SSRC?, position: Int, size: Int, at now: Instant) {
        guard queued == number else { return }
        switch state {
        case .pendingRequest, .queued:
            if let talker, talker != ssrc {
                lastTaken = now
                // The message does not tell the talker's priority.
                setTalker(talker, talker == self.talker ? talkerPriority : .normal)
            }
            let next = State.queued(position: position, size: size)
            if state != next { events.append(.queued(position: position, size: size)) }
            state = next
            isInterrupted = false
            repetition = FloorRepetition(from: now, [], then: FloorTiming.queueQuestion)
        case .noPermission, .permission, .pendingRelease: break
        }
    }
}

extension FloorMessage {
    /// The revision of an arbiter's message; nil for a participant's.
    var revision: FloorRevision? {
        switch self {
        case .granted(_, _, _, let revision, _, _), .taken(_, _, _, let revision, _, _),
            .denied(_, _, _, _, let revision, _), .idle(_, let revision, _), .revoke(_, _, _, let revision, _),
            .queuePosition(_, _, _, let revision, _, _):
            revision
        case .request, .release, .queuePositionRequest: nil
        }
    }
}
