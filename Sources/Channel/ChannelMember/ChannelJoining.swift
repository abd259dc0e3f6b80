internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// Joining a relay, and changing over to another one.
extension Channel {
    func isHandshake(_ datagram: Span<UInt8>) -> Bool {
        switch try? ControlPacket(parsing: datagram) {
        case .cookie, .welcome, .cookie2, .welcome2, .refusal: true
        default: false
        }
    }

    mutating func readHandshake(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant
    ) -> Reception {
        switch joinHandshake.receive(datagram, from: sender, at: now) {
        case .cookie: joinHandshake.writeJoin(to: &outbox)
        case .welcome(let terms, let keys): sessionBegan(keys, terms, at: now)
        case .refusal(.unproved): standing.hintArrived(.refused(.unproved), at: now)
        case .doubt(let doubt): standing.hintArrived(.doubted(doubt), at: now)
        case .refusal(let reason):
            changeover.refused(for: reason)
            turnedAway(for: reason, by: joinHandshake.attempt?.relay, at: now)
        case .nothing: return .discarded(.unexpected)
        }
        return .handled
    }

    private mutating func sessionBegan(
        _ keys: SessionKeys, _ terms: Welcome.Terms, at now: Instant
    ) {
        guard let relay = joinHandshake.attempt?.relay else { return }
        // Leaves an earlier session if the relay or our address has changed. If neither has changed, the relay itself
        // passes the slot and SSRC to the new session.
        if let session, session.endpoint != relay.endpoint {
            changeover.sendLeave(into: &outbox)
            changeover.leaveLater(session, at: now)
        } else if session?.seen != terms.address {
            send(.leave)
        }
        let former = session
        session = ChannelSession(
            keys, terms, at: relay, isWatchful: configuration.canChangeOver,
            token: .random(in: 0 ... .max, using: &generator), now)
        owner = owner ?? joinHandshake.attempt?.joinAttempt.owner
        managed?.left()
        session?.follow(former, at: now)
        joinHandshake.end()
        standing.refusalIsOver()
        wallClock.setByRelay(terms.clock, at: now + suspended)
        relayRefusals.sessionBegan()
        firstWelcome = firstWelcome ?? now + suspended
        sendStream.announceAgain()
        roster.sessionBegan(lease: terms.leaseDuration, at: now)
        // Sends our first record. Only its answer confirms our slot; until then, others may take the last slots.
        advanceKeepalive(at: now)
    }

    mutating func sessionIsOver(at now: Instant) {
        session = nil
        managed?.left()
        if !joinHandshake.isActive { joinHandshake.begin(at: now) }
        // The first HELLO is due now, and the time of now does not come a second time.
        advanceJoining(at: now)
    }

    mutating func advanceJoining(at now: Instant) {
        if joinHandshake.isDue(configuration, at: now, using: &generator) { joinHandshake.write(to: &outbox) }
    }

    mutating func leaseRenewed(_ token: UInt64, _ receipt: UInt64, _ terms: Welcome.Terms, at now: Instant) {
        session?.receipt = receipt
        // Repeats the announcements at the first answer, because the relay forwards nothing before our first record.
        let isFirst = !(session?.keepalive.hasAnswered ?? true)
        if isFirst {
            sendStream.announceAgain()
            roster.sessionAnswered(at: now)
        }
        let wasLost = session?.keepalive.renewed(token: token, lease: terms.leaseDuration, at: now) ?? false
        session?.seen = terms.address
        wallClock.setByRelay(terms.clock, at: now + suspended)
        if let session, let roundTrip = session.keepalive.latestRoundTrip {
            relayClock.relayAnswered(terms.clock, roundTrip: roundTrip, by: session.endpoint, at: now + suspended)
        }
        // Ends the new attempt to join. The relay was slow, but not lost, so the session continues.
        if wasLost {
            joinHandshake.end()
            standing.refusalIsOver()
        }
        if let relay = session?.relay {
            joinHandshake.succeeded(at: relay, of: configuration.relays)
            if let event = changeover.joined(relay.endpoint, isOneOfSeveral: configuration.canChangeOver) {
                standing.moved(to: terms.address)
                events.post(event)
            }
        }
        report(.joined(terms.address))
        compareClocks(at: now)
        sendRosterRecords(at: now)
        if isFirst {
            forgeries.sessionBegan(at: now)
            hearing.begin(at: now)
            announceHearing(at: now)
            managedSessionAnswered(at: now)
            floorSessionAnswered(at: now)
        }
    }

    // MARK: - Changing over

    /// Handles that the relay has answered none of the probes. Tells the user at once if there is no other relay.
    mutating func relayIsLost(at now: Instant) {
        guard let session else { return }
        if !configuration.canChangeOver { report(.lost) }
        joinHandshake.rejoin(
            from: session.relay, configuration.relays, hadAnswer: session.keepalive.hasAnswered, at: now,
            using: &generator)
    }

    /// Handles an authentic refusal, or the end of our membership. Tells the user when no relay is left to be tried.
    private mutating func turnedAway(for reason: Refusal.Reason, by relay: RelayCandidate?, at now: Instant) {
        let isElsewhere = relay.map {
            joinHandshake.changeOver(from: $0, configuration.relays, at: now, using: &generator)
        }
        if isElsewhere ?? false { return }
        report(isJoined ? .closed(reason) : .refused(reason))
        joinHandshake.pause(for: reason, at: now, using: &generator)
    }

    /// Ends the session, because the relay has ended our membership.
    mutating func goodbyeArrived(for reason: Refusal.Reason, at now: Instant) {
        let relay = session?.relay
        session = nil
        if reason == .notAdmitted { managed?.notAdmitted() } else { managed?.left() }
        pollManaged(at: now)
        changeover.dismissed(for: reason)
        turnedAway(for: reason, by: relay, at: now)
    }

    /// Tells the user, once, that all relays have been tried in vain.
    mutating func reportFailedJoin() {
        let isNews = standing.isUnknown || standing.isJoined && !isAnswered
        guard isNews, joinHandshake.hasFailed, standing.deadline == nil else { return }
        report(changeover.failure(isJoined: isJoined))
    }
}
