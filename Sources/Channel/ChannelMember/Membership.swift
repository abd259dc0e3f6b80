internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// Joining, staying, and joining anew.
extension Channel {
    /// Does what is due.
    mutating func advance(at now: Instant) {
        guard !hasLeft else { return }
        if joinHandshake.isDue(configuration, at: now, using: &generator) { sendJoin() }
        if standing == .nothing, joinHandshake.hasFailed, unprovedDeadline == nil { tell(.lost) }
        if let deadline = unprovedDeadline, deadline <= now {
            unprovedDeadline = nil
            tell(.refused(.unproved))
        }
        advanceKeepalive(at: now)
        tell(at: now)
    }

    private mutating func advanceKeepalive(at now: Instant) {
        while let step = session?.keepalive.step(at: now, using: &generator) {
            switch step {
            case .nothing: return
            case .renew(let token): say(.renewal(token: token, receipt: session?.receipt ?? 0))
            case .lost:
                tell(.lost)
                rejoin(at: now)
            case .over:
                session = nil
                if !joinHandshake.isActive { joinHandshake.begin(at: now) }
            }
        }
    }

    private mutating func rejoin(at now: Instant) {
        guard !joinHandshake.isActive else { return }
        if session?.keepalive.hasAnswered ?? false {
            // The relay may have lost all of us at once.
            joinHandshake.begin(at: now + Self.spread * Double.random(in: 0...1, using: &generator))
        } else {
            joinHandshake.pause(at: now, using: &generator)
        }
    }

    /// Those whom a relay has lost all at once come back within so long.
    private static let spread = Duration.milliseconds(250)
    /// After a refusal without proof it is tried on for so long before a person is told.
    static let unprovedPatience = Duration.seconds(3)

    private mutating func sendJoin() {
        guard let attempt = joinHandshake.attempt else { return }
        for number in 0..<attempt.joinAttempt.datagramCount {
            outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joinAttempt.write(number, into: &$0) }
        }
    }

    /// JOIN for the cookie that has come.
    private mutating func sendJoinWithCookie() {
        guard let attempt = joinHandshake.attempt else { return }
        outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joinAttempt.write(into: &$0) }
    }

    mutating func say(_ record: Record) {
        guard let endpoint = session?.endpoint else { return }
        outbox.put(capacity: ControlPacket.maximumByteCount, to: endpoint) { session?.sealer.seal(record, into: &$0) }
    }

    // MARK: - Answers

    mutating func readAnswer(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        switch joinHandshake.receive(datagram, from: sender, at: now) {
        case .cookie:
            sendJoinWithCookie()
            return .handled
        case .welcome(let terms, let keys):
            becomeMember(keys, terms, at: sender, now)
            return .handled
        case .refusal(.unproved):
            // Anybody may have said so: the true answer may still come.
            if unprovedDeadline == nil, standing != .refused(.unproved) {
                unprovedDeadline = now + Self.unprovedPatience
            }
            return .handled
        case .refusal(let reason):
            pause(for: reason, at: now)
            tell(.refused(reason))
            return .handled
        case .nothing: return .discarded(.unexpected)
        }
    }

    private mutating func becomeMember(
        _ keys: SessionKeys, _ terms: Welcome.Terms, at endpoint: Endpoint, _ now: Instant
    ) {
        // The session before this one, if there is any, holds our place and our SSRC: the relay hands them to the new one where
        // it sees that both are ours.
        if session?.endpoint != endpoint || session?.seen != terms.address { say(.leave) }
        session = ChannelSession(
            keys, terms, endpoint: endpoint, token: .random(in: 0 ... .max, using: &generator), at: now)
        joinHandshake.end()
        unprovedDeadline = nil
        take(terms, at: now)
        talk.announceAgain()
        ownInfo.end()
        roster.begin(lease: .seconds(Int(terms.lease)), at: now)
        // Others may come first with the last places: only what answers our first record says that we have one.
        advanceKeepalive(at: now)
    }

    private mutating func take(_ terms: Welcome.Terms, at now: Instant) {
        if !configuration.isSynchronised {
            wallClock = WallClockEstimate(terms.clock, isSynchronised: false, at: now + suspended)
        }
    }

    private mutating func pause(for reason: Refusal.Reason, at now: Instant) {
        switch reason {
        case .unproved, .full, .displaced, .limited, .stopping, .left: joinHandshake.pause(at: now, using: &generator)
        case .refused, .rekeyed: joinHandshake.pauseLong(at: now, using: &generator)
        }
    }

    // MARK: - Records

    mutating func readRecord(_ datagram: Span<UInt8>, session number: UInt64, at now: Instant) -> Reception {
        guard session?.number == number else { return .discarded(.unexpected) }
        for index in datagram.indices { bytes[index] = datagram[index] }
        opened = nil
        let said: Record
        do throws(RecordOpener.Failure) {
            guard let opened = try session?.open(&bytes, count: datagram.count) else { return .discarded(.unexpected) }
            said = opened
        } catch {
            switch error {
            case .replayed: return .discarded(.replayed)
            case .forged: return .discarded(.forged)
            case .malformed: return .discarded(.malformed)
            }
        }
        session?.keepalive.recordReceived(at: now)
        return take(said, at: now)
    }

    private mutating func take(_ record: Record, at now: Instant) -> Reception {
        switch record {
        case .renewed(let token, let receipt, let terms):
            session?.receipt = receipt
            let lease = Duration.seconds(Int(terms.lease))
            // Until its first record a relay passes nothing on: what was announced since WELCOME may have been lost on it.
            if !(session?.keepalive.hasAnswered ?? true) {
                talk.announceAgain()
                ownInfo.begin(at: now)
            }
            let wasLost = session?.keepalive.renewed(token: token, lease: lease, at: now) ?? false
            session?.seen = terms.address
            take(terms, at: now)
            // It was only slow.
            if wasLost {
                joinHandshake.end()
                unprovedDeadline = nil
            }
            joinHandshake.hasSucceeded()
            tell(.joined(terms.address))
            tell(at: now)
        case .pathChallenge(let number): say(.pathAnswer(number))
        case .goodbye(let reason):
            session = nil
            tell(isJoined ? .closed(reason) : .refused(reason))
            pause(for: reason, at: now)
        case .ssrcRefused(let refused):
            if refused == ssrc { reportCollision(at: now) }
        case .limited(let packets, let bits):
            let limits = TalkerLimits(packetsPerSecond: Int(packets), bitsPerSecond: Int(bits))
            guard session?.limits != limits else { return .handled }
            session?.limits = limits
            events.post(.limited(limits))
        case .report(let range):
            guard RTCPCompound.isRTCP(secondByte: bytes[range.lowerBound + 1]) else { return .discarded(.malformed) }
            opened = (.control, range)
            return .opened
        case .roster(let head, let entries): take(head, entries, at: now)
        case .rosterPage(let head, let entries): take(page: head, entries, at: now)
        case .renewal, .leave, .pathAnswer, .info, .rosterRequest: return .discarded(.unexpected)
        }
        return .handled
    }

    // MARK: - Events

    private mutating func tell(_ news: Standing) {
        guard news != standing else { return }
        standing = news
        switch news {
        case .joined(let address): events.post(.joined(configuration.role, seenAt: Endpoint(address)))
        case .lost: events.post(.lost)
        case .refused(let reason): events.post(.refused(reason))
        case .closed(let reason): events.post(.closed(reason))
        case .nothing: break
        }
    }

    /// At most once a minute: a station that changed its SSRC at each claim of another would never be heard.
    mutating func reportCollision(at now: Instant) {
        if let lastCollision, now - lastCollision < RTPSession.collisionInterval { return }
        lastCollision = now
        events.post(.ssrcIsTaken)
    }
}
