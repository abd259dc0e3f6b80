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

    /// Removes a member. If it has the floor, the floor is released.
    public mutating func leave(_ member: UInt32, at now: Instant) {
        guard let left = members.removeValue(forKey: member) else { return }
        participants.remove(member)
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
        if arbiter.isActive {
            arbiter.receive(message, from: FloorMemberID(UInt64(member)), ownsSSRC: ownsSSRC, at: now)
        } else if members[member]!.limit.spend(FloorTiming.messages, at: now) {
            pass(message, from: member, ownsSSRC: ownsSSRC)
        }
        settle(at: now)
    }

    /// Takes note of a packet of a member. Returns whether the relay may forward it: false only in a channel that
    /// requires the floor.
    public mutating func heardMedia(of ssrc: SSRC, from member: UInt32, at now: Instant) -> Bool {
        if arbiter.isActive {
            let mayPass = arbiter.heardMedia(of: ssrc, from: FloorMemberID(UInt64(member)), at: now)
            settle(at: now)
            return mayPass
        }
        return !configuration.isRequired || remoteTalker.map { $0 == ssrc } ?? true
    }

    /// Whether the member has sent a message about the floor.
    public func isParticipant(_ member: UInt32) -> Bool { participants.contains(member) }

    /// Passes a message to the leader, or answers it where this relay knows the answer.
    private mutating func pass(_ message: FloorMessage, from member: UInt32, ownsSSRC: Bool) {
        if case .request(let number, let ssrc, _, _, _) = message {
            guard members[member]!.mayTalk, ownsSSRC else {
                let cause: FloorDenial = ownsSSRC ? .mayOnlyListen : .other
                return send(
                    .toMember(
                        member, .denied(number: number, cause, talker: remoteTalker, .normal, heard, time: 0)))
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
    /// Takes note of the other relays that are present and have members of the channel.
    public mutating func update(others: Set<UInt128>, at now: Instant) {
        guard leader != nil else { return }
        leader!.update(hasMembers: !members.isEmpty, others: others, at: now)
        for (id, remote) in remoteMembers where !others.contains(remote.relay) {
            remoteMembers[id] = nil
            arbiter.leave(id, at: now)
        }
        for relay in relayNumbers.keys where !others.contains(relay) { relayNumbers[relay] = nil }
        settle(at: now)
    }

    /// Takes a message of another relay.
    public mutating func receive(_ message: FloorRelayMessage, from relay: UInt128, at now: Instant) {
        guard leader != nil, message.channel == channel else { return }
        switch message.content {
        case .claim: leader!.receive(term: message.term, from: relay, at: now)
        case .fromMember(let member, let inner):
            guard leader!.role == .leads(term: message.term) else { return }
            arbiter.receive(inner, from: id(of: member, at: relay, now), at: now)
        case .toMember(let member, let inner):
            guard leader!.role == .follows(relay, term: message.term), participants.contains(member) else { return }
            learn(inner)
            send(.toMember(member, inner))
        case .toAll(let inner):
            guard leader!.role == .follows(relay, term: message.term) else { return }
            learn(inner)
            send(.toAllMembers(inner))
        }
        settle(at: now)
    }

    /// Takes note of a packet of a member of another relay. The leader thus knows that its talker still talks, and gives
    /// an idle floor to a station that knows no floor control.
    public mutating func heardMedia(of ssrc: SSRC, fromRelay relay: UInt128, at now: Instant) {
        guard arbiter.isActive, leader != nil else { return }
        if let talker = arbiter.talker {
            guard talker.ssrc == ssrc else { return }
            _ = arbiter.heardMedia(of: ssrc, from: talker.member, at: now)
        } else if !arbiter.knows(ssrc) {
            _ = arbiter.heardMedia(of: ssrc, from: id(of: 0, at: relay, now), at: now)
        }
        settle(at: now)
    }

    /// Remembers what another relay's arbiter has decided.
    private mutating func learn(_ message: FloorMessage) {
        guard let revision = message.revision, revision >= heard else { return }
        heard = revision
        switch message {
        case .taken(_, let ssrc, _, _, _, _), .granted(_, let ssrc, _, _, _, _): remoteTalker = ssrc
        case .idle: remoteTalker = nil
        case .denied, .revoke, .queuePosition, .request, .release, .queuePositionRequest: break
        }
    }
}

extension FloorArbiter {
    /// Whether a member has requested the floor under this SSRC.
    func knows(_ ssrc: SSRC) -> Bool { members.values.contains { $0.ssrc == ssrc } }
}
