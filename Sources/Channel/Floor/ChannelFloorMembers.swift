public import TenfourAudioCore
internal import TenfourPacing
public import TenfourPackets

// The members of this relay.
extension ChannelFloor {
    /// Adds a member, unless it is here already. Its number is 1 or more.
    public mutating func join(_ member: UInt32, mayTalk: Bool, at now: Instant) {
        guard members[member] == nil else { return }
        members[member] = LocalMember(mayTalk: mayTalk)
        arbiter.join(FloorMemberID(UInt64(member)), mayTalk: mayTalk, at: now)
        settle(at: now)
    }

    /// Adds members that have asked before who has the floor, and whether they may talk. All members are told who has it.
    public mutating func join(askers: [UInt32: Bool], at now: Instant) {
        for (member, mayTalk) in askers {
            join(member, mayTalk: mayTalk, at: now)
            participants.insert(member)
        }
        if arbiter.isActive { send(.toAllMembers(arbiter.state(answering: 0, at: now))) }
    }

    /// Removes a member. If it has the floor, the floor is released.
    public mutating func leave(_ member: UInt32, at now: Instant) {
        guard let left = members.removeValue(forKey: member) else { return }
        participants.remove(member)
        departed = departed + left.counts
        arbiter.leave(FloorMemberID(UInt64(member)), at: now)
        if left.number > 0 { forward(.release(number: left.number, left.ssrc), from: member) }
        settle(at: now)
    }

    /// Takes a message of a member. `ownsSSRC` is false if another member has claimed the SSRC in the message.
    public mutating func receive(
        _ message: FloorMessage, from member: UInt32, ownsSSRC: Bool, at now: Instant
    ) {
        guard members[member] != nil, message.isFromParticipant else { return }
        participants.insert(member)
        if !message.isQuestion { isInUse = true }
        if arbiter.isActive {
            arbiter.receive(message, from: FloorMemberID(UInt64(member)), ownsSSRC: ownsSSRC, at: now)
        } else if members[member]!.limit.spend(FloorTiming.messages, at: now) {
            pass(message, from: member, ownsSSRC: ownsSSRC)
        } else {
            members[member]!.counts.limitedCount += 1
        }
        settle(at: now)
    }

    /// Takes note of a packet of a member. Returns whether the relay may forward it: false only in a channel that
    /// requires the floor.
    public mutating func heardMedia(of ssrc: SSRC, from member: UInt32, at now: Instant) -> Bool {
        guard isInUse else { return true }
        if arbiter.isActive {
            let mayPass = arbiter.heardMedia(of: ssrc, from: FloorMemberID(UInt64(member)), at: now)
            settle(at: now)
            return mayPass
        }
        guard configuration.isRequired, !mayPass(ssrc, from: member, at: now) else { return true }
        members[member]?.counts.unpermittedPacketCount += 1
        return false
    }

    /// Whether a packet of a member is forwarded in a channel that requires the floor, while another relay arbitrates.
    private mutating func mayPass(_ ssrc: SSRC, from member: UInt32, at now: Instant) -> Bool {
        if let remoteTalker { return remoteTalker.ssrc == ssrc }
        // The arbiter gives an idle floor to a station that knows no floor control, once it hears it.
        guard participants.contains(member) else {
            guard let pause = remotePause, pause.ssrc == ssrc, now < pause.end else { return true }
            remotePause?.end = max(pause.end, now + FloorTiming.quietTalker)
            return false
        }
        return remoteTail.map { $0.ssrc == ssrc && now < $0.end } ?? false
    }

    /// Whether the member has sent a message about the floor.
    public func isParticipant(_ member: UInt32) -> Bool { participants.contains(member) }

    /// Passes a message to the leader, or answers it where this relay knows the answer.
    private mutating func pass(_ message: FloorMessage, from member: UInt32, ownsSSRC: Bool) {
        if message.isQuestion, leader?.role == FloorLeader.Role.none {
            // Otherwise the station would take this relay for one that knows no floor control.
            let conditions: FloorConditions = configuration.isRequired ? .isRequired : []
            return send(
                .toMember(member, .idle(answering: 0, max(heard, FloorRevision(term: 1)), conditions)))
        }
        if case .request(let number, let ssrc, _, _, _) = message {
            guard members[member]!.mayTalk, ownsSSRC else {
                if !ownsSSRC, members[member]!.number < number {
                    members[member]!.number = number
                    members[member]!.counts.foreignSSRCCount += 1
                }
                let cause: FloorDenial = ownsSSRC ? .mayOnlyListen : .other
                return send(
                    .toMember(
                        member,
                        .denied(
                            number: number, cause, talker: remoteTalker?.ssrc, remoteTalker?.priority ?? .normal,
                            heard, time: 0)))
            }
            members[member]!.number = max(members[member]!.number, number)
            members[member]!.ssrc = ssrc
        }
        forward(message, from: member)
    }

    private mutating func forward(_ message: FloorMessage, from member: UInt32) {
        guard case .follows(let relay, let term) = leader?.role else { return }
        send(.toRelay(relay, FloorRelayMessage(term: term, channel: channel, .fromMember(member, message))))
    }
}

// The other relays of the cluster.
extension ChannelFloor {
    /// Takes note of the relays that have members of the channel: this one, whether or not a member has said something
    /// about the floor, and the present ones of `others`.
    public mutating func update(hasMembers: Bool, others: Set<UInt128>, at now: Instant) {
        guard leader != nil else { return }
        let hasNewcomers = leader!.update(hasMembers: hasMembers, others: others, at: now)
        for (id, remote) in remoteMembers where !others.contains(remote.relay) {
            remoteMembers[id] = nil
            arbiter.leave(id, at: now)
        }
        for relay in relayNumbers.keys where !others.contains(relay) { relayNumbers[relay] = nil }
        settle(at: now)
        if hasNewcomers, arbiter.isActive {
            // After the claim, so that their members hear at once who talks.
            let state = arbiter.state(answering: 0, at: now)
            send(.toAllRelays(FloorRelayMessage(term: ownTerm, channel: channel, .toAll(state))))
        }
    }

    /// Takes a message of another relay.
    public mutating func receive(_ message: FloorRelayMessage, from relay: UInt128, at now: Instant) {
        guard leader != nil, message.channel == channel else { return }
        switch message.content {
        case .claim: leader!.receive(term: message.term, from: relay, at: now)
        case .fromMember(let member, let inner):
            guard leader!.role == .leads(term: message.term) else { return }
            if !inner.isQuestion { isInUse = true }
            arbiter.receive(inner, from: id(of: member, at: relay, now), at: now)
        case .toMember(let member, let inner):
            guard leader!.role == .follows(relay, term: message.term), participants.contains(member) else { return }
            // The number may have been given to another member since the request.
            if case .granted(_, let ssrc, _, _, _, _) = inner, members[member]?.ssrc != ssrc { return }
            learn(inner, at: now)
            send(.toMember(member, inner))
        case .toAll(let inner):
            guard leader!.role == .follows(relay, term: message.term) else { return }
            learn(inner, at: now)
            send(.toAllMembers(inner))
        }
        settle(at: now)
    }

    /// Takes note of a packet of a member of another relay. The leader thus knows that its talker still talks, and gives
    /// an idle floor to a station that knows no floor control.
    public mutating func heardMedia(of ssrc: SSRC, fromRelay relay: UInt128, at now: Instant) {
        guard isInUse, arbiter.isActive, leader != nil else { return }
        if let talker = arbiter.talker {
            guard talker.ssrc == ssrc else { return }
            _ = arbiter.heardMedia(of: ssrc, from: talker.member, at: now)
        } else if !arbiter.knows(ssrc) {
            _ = arbiter.heardMedia(of: ssrc, from: id(of: 0, at: relay, now), at: now)
        }
        settle(at: now)
    }

    /// Remembers what another relay's arbiter has decided.
    private mutating func learn(_ message: FloorMessage, at now: Instant) {
        guard let revision = message.revision, revision >= heard else { return }
        heard = revision
        switch message {
        case .taken(_, let ssrc, let priority, _, _, _), .granted(_, let ssrc, let priority, _, _, _):
            isInUse = true
            let since = remoteTalker.flatMap { $0.ssrc == ssrc ? $0.since : nil } ?? now
            remoteTalker = HeardTalker(ssrc: ssrc, priority: priority, since: since)
        case .idle:
            if let former = remoteTalker {
                remoteTail = (former.ssrc, now + FloorTiming.tail)
                // The message about its end may have been faster than the one about its begin.
                if let longest = configuration.longestTalk, now - former.since + FloorTiming.tail >= longest {
                    remotePause = (former.ssrc, now + FloorTiming.pauseAfterTooLong)
                }
            }
            remoteTalker = nil
        case .denied, .revoke, .queuePosition: isInUse = true
        case .request, .release, .queuePositionRequest: break
        }
    }
}

extension FloorMessage {
    /// Whether a station asks who has the floor, which it does even if it never requests it.
    var isQuestion: Bool { if case .queuePositionRequest(0, _) = self { true } else { false } }
}

extension FloorArbiter {
    /// Whether a member has requested the floor under this SSRC.
    func knows(_ ssrc: SSRC) -> Bool { members.values.contains { $0.ssrc == ssrc } }
}
