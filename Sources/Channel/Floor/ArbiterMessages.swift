public import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

extension FloorArbiter {
    /// Takes a message of a member. `ownsSSRC` is false if another member has claimed the SSRC in the message.
    public mutating func receive(
        _ message: FloorMessage, from id: FloorMemberID, ownsSSRC: Bool = true, at now: Instant
    ) {
        guard isActive, members[id] != nil, message.isFromParticipant else { return }
        guard members[id]!.limit.spend(FloorTiming.messages, at: now) else {
            members[id]!.counts.limitedCount += 1
            return
        }
        members[id]!.hasAsked = true
        if case .queuePositionRequest(0, _) = message {} else { members[id]!.isAware = true }
        if talker?.member == id { talker?.lastHeard = now }
        if let index = queue.index(of: id) { queue.heard(at: index, now) }
        switch message {
        case .request(let number, let ssrc, let priority, let waits, let sends):
            let request = Request(
                member: id, number: number, ssrc: ssrc, wanted: priority, waits: waits, sends: sends)
            receive(request, ownsSSRC: ownsSSRC, at: now)
        case .release(let number, _): release(number, of: id, at: now)
        case .queuePositionRequest(let number, _): answerPosition(number, of: id, at: now)
        case .granted, .taken, .denied, .idle, .revoke, .queuePosition: break
        }
    }

    private struct Request {
        var member: FloorMemberID
        var number: UInt32
        var ssrc: SSRC
        var wanted: FloorPriority
        var waits: Bool
        var sends: Bool
        /// Whether nothing of this number has come before.
        var isFirst = false
    }

    private mutating func receive(_ request: Request, ownsSSRC: Bool, at now: Instant) {
        let id = request.member
        forgetEarlierStation(request, at: now)
        var request = request
        if request.number > members[id]!.countedNumber {
            request.isFirst = true
            members[id]!.countedNumber = request.number
            members[id]!.counts.requestCount += 1
        }
        if let decided = members[id]!.decided, request.number <= decided.number {
            if request.number == decided.number { answer(decided, to: request, at: now) }
            return
        }
        guard members[id]!.mayTalk else { return deny(request, .mayOnlyListen, at: now) }
        guard ownsSSRC else {
            if request.isFirst { members[id]!.counts.foreignSSRCCount += 1 }
            return deny(request, .other, at: now)
        }
        if let talker, talker.member == id {
            if request.number < talker.number { return }
            if request.number == talker.number { return grantAgain(request, at: now) }
            // The release of the earlier request was lost.
            endTalk(.ended, at: now, passesOn: true)
        }
        if let end = members[id]!.pausedUntil, now < end { return deny(request, .tooEarly, at: now) }
        if let end = takeoverEnd, now < end, !request.sends { return }
        decide(request, at: now)
    }

    /// Forgets the request numbers of a station that has started anew: it has another SSRC, and counts from 1.
    private mutating func forgetEarlierStation(_ request: Request, at now: Instant) {
        let id = request.member
        guard members[id]!.ssrc != request.ssrc else { return }
        if members[id]!.ssrc != nil, request.number <= members[id]!.countedNumber {
            if talker?.member == id { endTalk(.ended, at: now, passesOn: true) }
            members[id]!.decided = nil
            members[id]!.countedNumber = 0
        }
        members[id]!.ssrc = request.ssrc
    }

    private mutating func decide(_ request: Request, at now: Instant) {
        let priority = priority(of: request, at: now)
        guard let talker else { return grant(request, priority, at: now) }
        if priority > talker.priority {
            if let index = queue.index(of: request.member) { _ = queue.remove(at: index) }
            revokeTalker(.preempted, at: now)
            grant(request, priority, at: now)
            return sendPositions()
        }
        if let index = queue.index(of: request.member) {
            let entry = queue.entries[index]
            if entry.number > request.number { return }
            if entry.number == request.number, entry.priority >= priority {
                return sendPosition(at: index)
            }
            _ = queue.remove(at: index)
        }
        guard request.waits else { return deny(request, .anotherTalks, at: now) }
        let entry = FloorQueue.Entry(
            member: request.member, number: request.number, ssrc: request.ssrc, priority: priority, lastHeard: now)
        if let displaced = queue.insert(entry) { deny(displaced.member, displaced.number, .queueIsFull, at: now) }
        sendPositions()
    }

    /// The priority at which a request counts: an emergency at most once a minute.
    private mutating func priority(of request: Request, at now: Instant) -> FloorPriority {
        guard request.wanted == .emergency else { return .normal }
        if let next = members[request.member]!.nextEmergency, now < next {
            if request.isFirst { members[request.member]!.counts.surplusEmergencyCount += 1 }
            return .normal
        }
        return .emergency
    }

    private mutating func grantAgain(_ request: Request, at now: Instant) {
        if talker!.priority < request.wanted, priority(of: request, at: now) == .emergency {
            members[request.member]!.nextEmergency = now + FloorTiming.emergencyInterval
            talker!.priority = .emergency
            revision.state &+= 1
            announce(at: now)
        }
        sendGrant(at: now)
    }

    private mutating func grant(_ request: Request, _ priority: FloorPriority, at now: Instant) {
        begin(
            request.member, request.number, request.ssrc, priority, isUnaware: false, at: now)
    }

    private mutating func deny(_ request: Request, _ cause: FloorDenial, at now: Instant) {
        deny(request.member, request.number, cause, at: now)
    }

    private mutating func release(_ number: UInt32, of id: FloorMemberID, at now: Instant) {
        revoked.removeAll { $0.member == id && $0.number <= number }
        if let index = queue.index(of: id), queue.entries[index].number <= number {
            _ = queue.remove(at: index)
            sendPositions()
        }
        if let talker, talker.member == id, talker.number <= number {
            endTalk(.ended, at: now, passesOn: true)
        }
        // The request may arrive after its release.
        if members[id]!.decided.map({ $0.number < number }) ?? true {
            members[id]!.decided = FloorMember.Decided(number: number, outcome: .ended)
        }
        send(state(answering: number, at: now), to: .member(id))
    }

    private mutating func answerPosition(_ number: UInt32, of id: FloorMemberID, at now: Instant) {
        if let index = queue.index(of: id), queue.entries[index].number == number { return sendPosition(at: index) }
        if number > 0, let talker, talker.member == id, talker.number == number { return sendGrant(at: now) }
        send(state(answering: number, at: now), to: .member(id))
    }

    /// Answers a request again that is over.
    private mutating func answer(_ decided: FloorMember.Decided, to request: Request, at now: Instant) {
        let id = request.member
        switch decided.outcome {
        case .ended: send(state(answering: request.number, at: now), to: .member(id))
        case .denied(let cause): sendDenial(id, request.number, cause, at: now)
        case .revoked(let cause): sendRevocation(id, request.number, request.ssrc, cause, at: now)
        }
    }
}
