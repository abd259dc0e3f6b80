package import TenfourAudioCore
package import TenfourChannelKeys
package import TenfourSession

/// HELLO and JOIN: until the join key is proved nothing is kept, and no more is sent than came.
extension Relay {
    /// A WELCOME that may have to be said again.
    struct PendingWelcome: Sendable {
        let join: Join
        let datagram: [UInt8]
    }

    mutating func hello(_ nonce: UInt128, from sender: Endpoint, at now: Instant) -> Reception {
        guard hasRoomForStrangers, handshakes.allowsStranger(at: sender.address, now) else {
            return .discarded(.tooManyHandshakes)
        }
        let cookie = cookies.cookie(for: nonce, from: PeerAddress(sender), to: address, at: now)
        outbox.put(capacity: 40, to: sender) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        return .handled
    }

    /// In the order of the table in Protocol/06-control.md.
    mutating func join(_ join: Join, from sender: Endpoint, at now: Instant) -> Reception {
        let source = PeerAddress(sender)
        guard cookies.accepts(join.cookie, for: join.nonce, from: source, to: address, at: now) else {
            return .discarded(handshakes.allowsStranger(at: sender.address, now) ? .cookie : .tooManyHandshakes)
        }
        guard hasRoomForStrangers else { return .discarded(.tooManyHandshakes) }
        spentCookies.turn(to: now)
        guard !spentCookies.contains(join.cookie) else { return welcomeAgain(join, sender) }
        if let refusal = refusals[join] { return refuseAgain(refusal, sender) }
        guard handshakes.allowsProof(at: sender.address, now) else { return .discarded(.tooManyFailures) }
        if proofs.mustWait(at: now) {
            return proofs.insert(join, from: sender, at: now) ? .handled : .discarded(.tooManyFailures)
        }
        return prove(join, from: sender, at: now)
    }

    /// Checks what a JOIN proves, and lets its member in or says why not.
    mutating func prove(_ join: Join, from sender: Endpoint, at now: Instant) -> Reception {
        let entry = directory[join.channelID]
        let key = entry?.key ?? dummyKey
        let isProved = join.isProved(by: key)
        guard isProved, let entry else {
            handshakes.proofFailed(at: sender.address, now)
            proofs.proofFailed(at: now)
            return refuse(join, .unproved, .unproved, key, to: sender)
        }
        guard handshakes.allowsJoin(at: sender.address, now) else {
            return refuse(join, .limited, .tooManyJoins, key, to: sender)
        }
        guard names.isEmpty || names.contains(join.relay), join.role == key.role else {
            return refuse(join, .refused, .refused, key, to: sender)
        }
        guard let channel = entry.channel else { return refuse(join, .rekeyed, .rekeyed, key, to: sender) }
        if let ending { return refuse(join, ending, .stopping, key, to: sender) }
        guard mayEnter(channel, as: key.role, from: sender) else { return refuse(join, .full, .full, key, to: sender) }
        guard sessions.waitingCount(at: sender.address) < Self.mostWaitingOfHost else {
            return refuse(join, .limited, .tooManyJoins, key, to: sender)
        }
        return welcome(join, key, to: channel, from: sender, at: now)
    }

    private mutating func refuse(
        _ join: Join, _ reason: Refusal.Reason, _ discard: RelayDiscard, _ key: JoinKey, to sender: Endpoint
    ) -> Reception {
        let refusal = Refusal(of: join, for: reason, key: key)
        if reason != .unproved { refusals.insert(refusal, of: join) }
        outbox.put(capacity: 40, to: sender) { refusal.write(into: &$0) }
        return .discarded(discard)
    }

    /// The first may have been lost; or somebody repeats what it overheard.
    private mutating func refuseAgain(_ refusal: Refusal, _ sender: Endpoint) -> Reception {
        outbox.put(capacity: 40, to: sender) { refusal.write(into: &$0) }
        return .discarded(.replayedJoin)
    }

    /// Of sessions whose first record has not come: who never means to send one takes nobody's place but its neighbours'.
    static let mostWaitingOfHost = 1_000

    /// While the network takes nothing, what strangers ask for must not pile up.
    var hasRoomForStrangers: Bool { outbox.count < 4_096 }

    /// The whole JOIN is compared: one that is not the same proves nothing, and is worth no work.
    private mutating func welcomeAgain(_ join: Join, _ sender: Endpoint) -> Reception {
        var search = sessions.search(sender)
        while let member = sessions.next(&search, at: sender) {
            guard let said = pendingWelcomes[member], said.join == join else { continue }
            outbox.put(said.datagram.span, to: sender)
            return .handled
        }
        return .discarded(.replayedJoin)
    }

    private mutating func welcome(
        _ join: Join, _ key: JoinKey, to channel: ChannelIndex, from sender: Endpoint, at now: Instant
    ) -> Reception {
        let session = sessions.draw(&generator)
        let share = KeyShare(using: &generator)
        var keys: SessionKeys?
        let datagram = [UInt8](capacity: 105) {
            keys = Welcome.answer(
                join, key: key, share: share, session: session, terms: terms(for: sender, at: now), into: &$0)
        }
        guard let keys else { return .discarded(.weakShare) }
        spentCookies.insert(join.cookie)
        let member = admit(keys, as: key.role, to: channel, at: sender, now)
        endThose(at: sender, in: channel, .waiting, but: member, at: now)
        pendingWelcomes[member] = PendingWelcome(join: join, datagram: datagram)
        outbox.put(datagram.span, to: sender)
        return .handled
    }

    /// Who has proved its key: from now on there is a session. Its id was the last to be drawn.
    package mutating func admit(
        _ keys: SessionKeys, as role: Role, to channel: ChannelIndex, at endpoint: Endpoint, _ now: Instant
    ) -> MemberID {
        let member = sessions.insert(
            MemberSession(endpoint: endpoint, channel: channel, role: role, deadline: now + Self.patience), keys)
        if role == .talk { sessions[member].talker = addTalker(member, keys.hopTagChecker(for: .relay)) }
        return member
    }

    func terms(for endpoint: Endpoint, at now: Instant) -> Welcome.Terms {
        Welcome.Terms(lease: Self.lease, clock: wallClock(at: now), address: PeerAddress(endpoint))
    }

    /// A member that joins anew from where it is goes on where it was.
    mutating func takePlace(of endpoint: Endpoint, in channel: ChannelIndex, by member: MemberID, at now: Instant) {
        var search = sessions.search(endpoint)
        while let old = sessions.next(&search, at: endpoint) {
            guard old != member, sessions[old].channel == channel, sessions[old].state == .joined else { continue }
            handOver(from: old, to: member)
            handInfoOver(from: old, to: member)
        }
        endThose(at: endpoint, in: channel, .joined, but: member, at: now)
    }

    /// A member that joins anew from where it is has forgotten what it had: it shall not hear everything twice.
    mutating func endThose(
        at endpoint: Endpoint, in channel: ChannelIndex, _ state: MemberSession.State, but kept: MemberID? = nil,
        at now: Instant
    ) {
        var search = sessions.search(endpoint)
        while let member = sessions.next(&search, at: endpoint) {
            guard member != kept, sessions[member].channel == channel, sessions[member].state == state else { continue }
            end(member, at: now)
            // The table has changed under the search.
            search = sessions.search(endpoint)
        }
    }
}
