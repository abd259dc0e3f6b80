public import TenfourAudioCore

extension FloorArbiter {
    /// The time of the next timer; nil if none runs.
    public var nextDeadline: Instant? {
        guard isActive else { return nil }
        var deadline = announcement?.next
        func consider(_ moment: Instant?) {
            if let moment { deadline = deadline.map { min($0, moment) } ?? moment }
        }
        consider(talker?.vanishing)
        consider(talker?.end)
        consider(nextGrant)
        consider(queue.oldest.map { $0 + FloorTiming.queueEnd })
        for revoked in revoked { consider(min(revoked.next, revoked.end)) }
        return deadline
    }

    /// Does what is due. An early or late call does no harm.
    public mutating func timeElapsed(at now: Instant) {
        guard isActive else { return }
        if let talker, talker.vanishing <= now { endTalk(.ended, at: now, passesOn: true) }
        if let talker, let end = talker.end, end <= now {
            members[talker.member]?.pausedUntil = now + FloorTiming.pauseAfterTooLong
            members[talker.member]?.counts.overlongCount += 1
            revokeTalker(.tooLong, at: now)
            if let next = queue.removeFirst() {
                begin(next.member, next.number, next.ssrc, next.priority, isUnaware: false, at: now)
                sendPositions()
            } else {
                announce(at: now)
            }
        }
        let silent = queue.removeSilent(since: now - FloorTiming.queueEnd)
        if !silent.isEmpty {
            for entry in silent {
                members[entry.member]?.decided = FloorMember.Decided(number: entry.number, outcome: .ended)
            }
            sendPositions()
        }
        if let due = nextGrant, due <= now { sendGrant(at: now) }
        repeatRevocations(at: now)
        if announcement?.isDue(at: now) == true { send(state(answering: 0, at: now), to: .everyone) }
        if let end = takeoverEnd, end <= now { takeoverEnd = nil }
    }

    private mutating func repeatRevocations(at now: Instant) {
        revoked.removeAll { $0.end <= now }
        for index in revoked.indices where revoked[index].next <= now {
            revoked[index].next = now + FloorTiming.revocationRepetition
            let entry = revoked[index]
            sendRevocation(entry.member, entry.number, entry.ssrc, entry.cause, at: now)
        }
    }
}

extension FloorArbiter {
    /// Begins to decide, because this relay leads its cluster from now on. After another leader the talker is asked
    /// whether it still sends.
    mutating func lead(term: UInt32, afterAnother: Bool, at now: Instant) {
        isActive = true
        forgetRequests()
        revision = FloorRevision(term: term)
        takeoverEnd = afterAnother ? now + FloorTiming.newLeader : nil
        announce(at: now)
    }

    /// Goes on in a higher term. The talker keeps the floor.
    mutating func raise(term: UInt32, at now: Instant) {
        revision.term = term
        announce(at: now)
        sendGrant(at: now)
    }

    /// Ceases to decide, because another relay leads. The floor is revoked, and the queue emptied.
    mutating func stepDown(at now: Instant) {
        guard isActive else { return }
        revokeTalker(.noPermission, at: now)
        isActive = false
        forgetRequests()
    }

    private mutating func forgetRequests() {
        talker = nil
        nextGrant = nil
        announcement = nil
        takeoverEnd = nil
        revoked = []
        queue.removeAll()
    }
}
