package import TenfourAudioCore
package import TenfourChannelKeys
internal import TenfourManagedChannel
package import TenfourSession

/// Handles HELLO and JOIN. Until a JOIN has proved its key, the relay keeps no state for it and answers with no more
/// bytes than it received.
extension Relay {
    mutating func hello(_ nonce: UInt128, from sender: Endpoint, at now: Instant) -> Reception {
        guard hasRoomForStrangers, let cookie = joins.cookie(for: nonce, from: sender, at: now) else {
            return .discarded(.tooManyHandshakes)
        }
        outbox.put(capacity: 40, to: sender) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        return .handled
    }

    /// Answers HELLO2 with a cookie and the relay's static key. The answer for an unknown channel looks like any other.
    mutating func hello2(
        _ nonce: UInt128, _ channelID: UInt128, from sender: Endpoint, at now: Instant
    ) -> Reception {
        guard let staticKey else { return .discarded(.unexpectedControl) }
        guard hasRoomForStrangers, let cookie = joins.cookie(for: nonce, from: sender, at: now) else {
            return .discarded(.tooManyHandshakes)
        }
        let unknown = joins.ownerHash(ofUnknown: channelID)
        let answer = Cookie2(
            cookie, relay: staticKey.publicKey, owner: directory[channelID]?.owner ?? unknown)
        outbox.put(capacity: 104, to: sender) { ControlPacket.writeCookie2(answer, nonce: nonce, into: &$0) }
        return .handled
    }

    /// Checks a JOIN in the order of the table in Protocol/06-control.md, then admits its sender, refuses it, or queues
    /// the JOIN for its proof.
    mutating func join(_ join: Join, from sender: Endpoint, at now: Instant) -> Reception {
        guard staticKey != nil || !join.demandsRelayKey else { return .discarded(.unexpectedControl) }
        switch joins.check(join, from: sender, hasRoom: hasRoomForStrangers, at: now) {
        case .discard(let reason): return .discarded(reason)
        case .repeatWelcome: return welcomeAgain(join, sender)
        case .repeatRefusal(let refusal):
            // Sends the REFUSAL again, because the first one may have been lost. The JOIN is counted as replayed,
            // because an eavesdropper may have sent it.
            outbox.put(capacity: 40, to: sender) { refusal.write(into: &$0) }
            return .discarded(.replayedJoin)
        case .wait: return .handled
        case .prove: return prove(join, from: sender, at: now)
        }
    }

    /// Checks the proofs of queued JOINs, as far as the rate limit of wrong proofs allows.
    mutating func proveWaiting(at now: Instant) {
        guard let due = joins.deadline, due <= now else { return }
        while let next = joins.nextWaiting(at: now) {
            guard hasRoomForStrangers, now - next.arrival <= ProofQueue.memory else {
                count(.discarded(.tooManyFailures))
                continue
            }
            // Skips a retransmitted JOIN if its first copy has been admitted.
            guard !joins.isSpent(next.join.cookie, at: now) else { continue }
            count(prove(next.join, from: next.sender, at: now))
        }
    }

    /// Checks a JOIN with a wrong proof and builds its refusal, without sending it or changing any state. The caller
    /// measures the CPU time of this call.
    package func rehearseProof(_ datagram: Span<UInt8>) {
        guard case .join(let join)? = try? ControlPacket(parsing: datagram) else { return }
        joins.rehearseProof(join, by: pairs?.joinKey(of: join))
    }

    /// Checks the proof of a JOIN. Admits its sender with a WELCOME, or refuses it with a reason.
    private mutating func prove(_ join: Join, from sender: Endpoint, at now: Instant) -> Reception {
        // The key of a pass is computed for every JOIN, so that the check takes the same time for all channel ids.
        let passKey = pairs?.joinKey(of: join)
        let entry = directory[join.channelID]
        let known = entry?.key ?? passKey
        guard joins.isProved(join, by: known, from: sender, at: now), let key = known else {
            return refuse(join, .unproved, .unproved, known, to: sender)
        }
        guard let entry else { return enterPair(join, key, from: sender, at: now) }
        guard joins.allowsJoin(at: sender.address, now) else {
            return refuse(join, .limited, .tooManyJoins, key, to: sender)
        }
        guard names.isEmpty || names.contains(join.relay), join.role == key.role else {
            return refuse(join, .refused, .refused, key, to: sender)
        }
        guard let channel = entry.channel else { return refuse(join, .rekeyed, .rekeyed, key, to: sender) }
        guard join.demandsRelayKey || !managed.contains(channel) else {
            return refuse(join, .refused, .refused, key, to: sender)
        }
        return enter(channel, join, key, from: sender, at: now)
    }

    /// Handles a JOIN that was proved with the key of a pass.
    private mutating func enterPair(
        _ join: Join, _ key: JoinKey, from sender: Endpoint, at now: Instant
    ) -> Reception {
        guard pairs?.allowsJoin(at: sender.address, now) ?? false else {
            // Everybody can get a pass, so these JOINs count like wrong proofs: further ones are not even checked.
            joins.proofFailed(from: sender, at: now)
            return refuse(join, .limited, .tooManyJoins, key, to: sender)
        }
        // No link with a pass demands the relay's key, and JOIN2 costs two more X25519 operations.
        guard names.isEmpty || names.contains(join.relay), !join.demandsRelayKey,
            let channel = pairedChannel(join.channelID)
        else {
            return refuse(join, .refused, .refused, key, to: sender)
        }
        let reception = enter(channel, join, key, from: sender, at: now)
        closeIfUnused(channel)
        return reception
    }

    /// Admits the sender of a JOIN to a channel if there is room.
    private mutating func enter(
        _ channel: ChannelIndex, _ join: Join, _ key: JoinKey, from sender: Endpoint, at now: Instant
    ) -> Reception {
        if let ending { return refuse(join, ending, .stopping, key, to: sender) }
        guard mayEnter(channel, as: key.role, from: sender) else { return refuse(join, .full, .full, key, to: sender) }
        guard sessions.waitingCount(at: sender.address) < Self.mostWaitingOfHost else {
            return refuse(join, .limited, .tooManyJoins, key, to: sender)
        }
        return welcome(join, key, to: channel, from: sender, at: now)
    }

    private mutating func refuse(
        _ join: Join, _ reason: Refusal.Reason, _ discard: RelayDiscard, _ key: JoinKey?, to sender: Endpoint
    ) -> Reception {
        let refusal = joins.refusal(of: join, for: reason, key: key)
        outbox.put(capacity: 40, to: sender) { refusal.write(into: &$0) }
        return .discarded(discard)
    }

    /// The maximum number of sessions of one host that wait for their first record. Further JOINs of this host are
    /// refused, so that a host that never sends first records cannot keep out members from other hosts.
    static let mostWaitingOfHost = 1_000

    /// Whether answers to unauthenticated senders may be queued: fewer than 4096 datagrams are queued. The queue gets
    /// that long only while the network accepts no datagrams.
    var hasRoomForStrangers: Bool { outbox.count < 4_096 }

    /// Sends the WELCOME again to a JOIN whose cookie was used. The whole JOIN is compared with the first JOIN that
    /// used the cookie. A different JOIN is dropped without checking its proof.
    private mutating func welcomeAgain(_ join: Join, _ sender: Endpoint) -> Reception {
        var search = sessions.search(sender)
        while let member = sessions.next(&search, at: sender) {
            guard let datagram = joins.welcome(of: member, for: join) else { continue }
            outbox.put(datagram.span, to: sender)
            return .handled
        }
        return .discarded(.replayedJoin)
    }

    private mutating func welcome(
        _ join: Join, _ key: JoinKey, to channel: ChannelIndex, from sender: Endpoint, at now: Instant
    ) -> Reception {
        var opened: OpenedJoin?
        if join.demandsRelayKey {
            opened = staticKey.flatMap { OpenedJoin(join, by: $0) }
            guard opened != nil else {
                joins.messageFailed(from: sender, at: now)
                return .discarded(.otherRelayKey)
            }
        }
        var index: UInt16 = 0
        if managed.contains(channel) {
            guard let admitted = opened.flatMap({ admitted($0.memberKey, to: channel, as: key.role) }) else {
                return refuse(join, .notAdmitted, .notAdmitted, key, to: sender)
            }
            index = admitted
        }
        let session = sessions.draw(&generator)
        let share = KeyShare(using: &generator)
        let terms = terms(for: sender, hasTrailers: join.demandsRelayKey, at: now)
        var keys: SessionKeys?
        let datagram = [UInt8](capacity: 105) {
            keys =
                if let opened {
                    opened.answer(key: key, share: share, session: session, terms: terms, into: &$0)
                } else {
                    Welcome.answer(join, key: key, share: share, session: session, terms: terms, into: &$0)
                }
        }
        guard let keys else { return .discarded(.weakShare) }
        let member = admit(keys, as: key.role, index: index, to: channel, at: sender, now)
        endThose(at: sender, in: channel, .waiting, but: member, at: now)
        joins.welcomed(member, for: join, with: datagram)
        outbox.put(datagram.span, to: sender)
        return .handled
    }

    /// Creates a session for a sender that has proved its key, and returns its member. The session id of `keys` must be
    /// the latest id that `sessions.draw` has returned. `index` is the member's in the roster of a channel with an
    /// owner.
    package mutating func admit(
        _ keys: SessionKeys, as role: Role, index: UInt16 = 0, to channel: ChannelIndex, at endpoint: Endpoint,
        _ now: Instant
    ) -> MemberID {
        let member = sessions.insert(
            MemberSession(endpoint: endpoint, channel: channel, role: role, deadline: now + Self.patience), keys)
        if managed.contains(channel) { sessions.setRosterIndex(index, of: member) }
        if role == .talk { sessions[member].talker = addTalker(member, keys.hopTagChecker(for: .relay)) }
        return member
    }

    func terms(for endpoint: Endpoint, hasTrailers: Bool, at now: Instant) -> Welcome.Terms {
        Welcome.Terms(
            lease: Self.lease | (hasTrailers ? 1 : 0), clock: wallClock(at: now), address: PeerAddress(endpoint))
    }

    /// Replaces an earlier session of the same transport address in the channel. The new session takes over the SSRC
    /// and the info of the earlier session.
    mutating func takePlace(of endpoint: Endpoint, in channel: ChannelIndex, by member: MemberID, at now: Instant) {
        var search = sessions.search(endpoint)
        while let old = sessions.next(&search, at: endpoint) {
            guard old != member, sessions[old].channel == channel, sessions[old].state == .joined else { continue }
            handOver(from: old, to: member)
            handInfoOver(from: old, to: member)
        }
        endThose(at: endpoint, in: channel, .joined, but: member, at: now)
    }

    /// Ends the sessions in `state` at a transport address in a channel, except `kept`, so that the member at this
    /// address does not receive each packet twice.
    mutating func endThose(
        at endpoint: Endpoint, in channel: ChannelIndex, _ state: MemberSession.State, but kept: MemberID? = nil,
        at now: Instant
    ) {
        var search = sessions.search(endpoint)
        while let member = sessions.next(&search, at: endpoint) {
            guard member != kept, sessions[member].channel == channel, sessions[member].state == state else { continue }
            end(member, at: now)
            // Starts the search again, because ending a session has changed the table.
            search = sessions.search(endpoint)
        }
    }
}
