internal import TenfourAudioCore
internal import TenfourPackets

// How the floor changes, and who is told.
extension FloorArbiter {
    /// Gives the idle floor to a member. `number` is zero if the member knows no floor control.
    mutating func begin(
        _ id: FloorMemberID, _ number: UInt32, _ ssrc: SSRC, _ priority: FloorPriority, isUnaware: Bool,
        at now: Instant
    ) {
        precondition(talker == nil, "two grants at a time")
        talker = Talker(
            member: id, ssrc: ssrc, priority: priority, isUnaware: isUnaware, number: number,
            end: configuration.longestTalk.map { now + $0 }, lastHeard: now)
        revision.state &+= 1
        if priority == .emergency { members[id]?.nextEmergency = now + FloorTiming.emergencyInterval }
        if isUnaware { nextGrant = nil } else { sendGrant(at: now) }
        announce(at: now)
    }

    /// Ends the talker's permission. If `passesOn` is true, the first of the queue has the floor, or nobody.
    mutating func endTalk(_ outcome: FloorMember.Decided.Outcome, at now: Instant, passesOn: Bool) {
        guard let talker else { return }
        if !talker.isUnaware {
            members[talker.member]?.decided = FloorMember.Decided(number: talker.number, outcome: outcome)
        }
        if case .ended = outcome { members[talker.member]?.tailEnd = now + FloorTiming.tail }
        self.talker = nil
        nextGrant = nil
        revision.state &+= 1
        guard passesOn else { return }
        if let next = queue.removeFirst() {
            begin(next.member, next.number, next.ssrc, next.priority, isUnaware: false, at: now)
            sendPositions()
        } else {
            announce(at: now)
        }
    }

    /// Takes the floor back, so that it is idle. The caller gives it to another, or announces that it is idle.
    mutating func revokeTalker(_ cause: FloorRevocation, at now: Instant) {
        guard let talker else { return }
        endTalk(.revoked(cause), at: now, passesOn: false)
        guard !talker.isUnaware else { return }
        sendRevocation(talker.member, talker.number, talker.ssrc, cause, at: now)
        if revoked.count >= 4 { revoked.removeFirst() }
        revoked.append(
            Revoked(
                member: talker.member, number: talker.number, ssrc: talker.ssrc, cause: cause,
                end: now + FloorTiming.revocationEnd, next: now + FloorTiming.revocationRepetition))
    }

    /// Denies a request for good, and counts it.
    mutating func deny(_ id: FloorMemberID, _ number: UInt32, _ cause: FloorDenial, at now: Instant) {
        if members[id]?.decided.map({ $0.number < number }) ?? true {
            members[id]?.decided = FloorMember.Decided(number: number, outcome: .denied(cause))
            members[id]?.counts.deniedCount += 1
        }
        sendDenial(id, number, cause, at: now)
    }

    /// Tells all members who has the floor, now and several times later.
    mutating func announce(at now: Instant) {
        send(state(answering: 0, at: now), to: .everyone)
        announcement =
            talker == nil
            ? FloorRepetition(from: now, FloorTiming.idleRepetitions, then: nil)
            : FloorRepetition(from: now, FloorTiming.takenRepetitions, then: FloorTiming.takenInterval)
    }

    func state(answering number: UInt32, at now: Instant) -> FloorMessage {
        var conditions: FloorConditions = configuration.isRequired ? .isRequired : []
        guard let talker else { return .idle(answering: number, revision, conditions) }
        if talker.isUnaware { conditions.insert(.talkerIsUnaware) }
        return .taken(
            answering: number, talker.ssrc, talker.priority, revision, time: time(of: talker, at: now), conditions)
    }

    mutating func sendGrant(at now: Instant) {
        guard let talker, !talker.isUnaware else { return }
        nextGrant = now + FloorTiming.grantRepetition
        send(
            .granted(
                number: talker.number, talker.ssrc, talker.priority, revision, time: time(of: talker, at: now),
                mustAnswer: talker.lastHeard + FloorTiming.quietTalker <= now), to: .member(talker.member))
    }

    mutating func sendDenial(_ id: FloorMemberID, _ number: UInt32, _ cause: FloorDenial, at now: Instant) {
        let end = cause == .tooEarly ? members[id]?.pausedUntil : nil
        send(
            .denied(
                number: number, cause, talker: talker?.ssrc, talker?.priority ?? .normal, revision,
                time: end.map { ($0 - now).floorMilliseconds } ?? 0), to: .member(id))
    }

    mutating func sendRevocation(
        _ id: FloorMemberID, _ number: UInt32, _ ssrc: SSRC, _ cause: FloorRevocation, at now: Instant
    ) {
        let end = members[id]?.pausedUntil
        send(
            .revoke(number: number, ssrc, cause, revision, time: end.map { ($0 - now).floorMilliseconds } ?? 0),
            to: .member(id))
    }

    mutating func sendPositions() { for index in queue.entries.indices { sendPosition(at: index) } }

    mutating func sendPosition(at index: Int) {
        let entry = queue.entries[index]
        send(
            .queuePosition(
                number: entry.number, talker: talker?.ssrc, entry.priority, revision, position: UInt8(index + 1),
                size: UInt32(queue.entries.count)), to: .member(entry.member))
    }

    private func time(of talker: Talker, at now: Instant) -> UInt32 {
        talker.end.map { max(1, ($0 - now).floorMilliseconds) } ?? 0
    }
}
