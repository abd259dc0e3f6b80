public import TenfourAudioCore

extension FloorParticipant {
    /// The time of the next timer; nil if none runs.
    public var nextDeadline: Instant? {
        var deadline = repetition?.next
        func consider(_ moment: Instant?) {
            if let moment { deadline = deadline.map { min($0, moment) } ?? moment }
        }
        if state == .permission, otherEnd == .arbitrates {
            consider(lastGrant + FloorTiming.permissionEnd)
            consider(permissionEnd)
        }
        consider(lastTaken.map { $0 + FloorTiming.takenEnd })
        consider(releaseEnd)
        consider(questions?.next)
        consider(verdict)
        return deadline
    }

    /// Does what is due. An early or late call does no harm.
    public mutating func timeElapsed(at now: Instant) {
        if let lastTaken, lastTaken + FloorTiming.takenEnd <= now {
            self.lastTaken = nil
            setTalker(nil, .normal)
        }
        if state == .permission, otherEnd == .arbitrates {
            if let end = permissionEnd, end <= now {
                rest()
                events.append(.revoked(.tooLong, retryAfter: FloorTiming.pauseAfterTooLong))
            } else if lastGrant + FloorTiming.permissionEnd <= now {
                interrupt(at: now)
            }
        }
        if let end = releaseEnd, end <= now { rest() }
        if questions?.isDue(at: now) == true { outgoing.append(.queuePositionRequest(number: 0, ssrc)) }
        if let due = verdict, due <= now { concludeNoArbiter(at: now) }
        guard repetition?.isDue(at: now) == true else { return }
        switch state {
        case .pendingRequest: sendRequest()
        case .queued: outgoing.append(.queuePositionRequest(number: number, ssrc))
        case .pendingRelease: outgoing.append(.release(number: number, ssrc))
        case .noPermission, .permission: break
        }
    }

    /// Stops sending, because the arbiter is not heard, and asks it whether the permission still holds.
    private mutating func interrupt(at now: Instant) {
        state = .pendingRequest
        permissionEnd = nil
        isInterrupted = true
        events.append(.interrupted)
        sendRequest()
        repetition = FloorRepetition(
            from: now, FloorTiming.repetitions, then: FloorTiming.repetitionInterval)
    }

    private mutating func concludeNoArbiter(at now: Instant) {
        verdict = nil
        questions = nil
        let decidesAlone = otherEnd == .unaware
        otherEnd = .unaware
        events.append(.unaware)
        // The station decided alone before a new partner came, and its decision stays.
        guard !decidesAlone else { return }
        switch state {
        case .pendingRequest: decideAlone(at: now)
        case .noPermission, .queued, .permission, .pendingRelease: rest()
        }
    }
}
