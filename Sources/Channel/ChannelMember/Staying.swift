internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// Joining, staying, and joining anew.
extension Channel {
    /// Does what is due.
    mutating func advance(at now: Instant) {
        guard !hasLeft else { return }
        if admission.isDue(configuration, at: now, using: &generator) { sayAgain() }
        if told == .nothing, admission.hasFailed, unprovedDeadline == nil { tell(.lost) }
        if let deadline = unprovedDeadline, deadline <= now {
            unprovedDeadline = nil
            tell(.refused(.unproved))
        }
        stay(at: now)
        tell(at: now)
    }

    private mutating func stay(at now: Instant) {
        while let step = session?.presence.step(at: now, using: &generator) {
            switch step {
            case .nothing: return
            case .renew(let token): say(.renewal(token: token, receipt: session?.receipt ?? 0))
            case .lost:
                tell(.lost)
                joinAnew(at: now)
            case .over:
                session = nil
                if !admission.isActive { admission.begin(at: now) }
            }
        }
    }

    private mutating func joinAnew(at now: Instant) {
        guard !admission.isActive else { return }
        if session?.presence.hasAnswered ?? false {
            // The relay may have lost all of us at once.
            admission.begin(at: now + Self.spread * Double.random(in: 0...1, using: &generator))
        } else {
            admission.pause(at: now, using: &generator)
        }
    }

    /// Those whom a relay has lost all at once come back within so long.
    private static let spread = Duration.milliseconds(250)
    /// After a refusal without proof it is tried on for so long before a person is told.
    static let unprovedPatience = Duration.seconds(3)

    private mutating func sayAgain() {
        guard let attempt = admission.attempt else { return }
        for number in 0..<attempt.joining.datagramCount {
            outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joining.write(number, into: &$0) }
        }
    }

    /// JOIN for the cookie that has come.
    private mutating func answerCookie() {
        guard let attempt = admission.attempt else { return }
        outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joining.write(into: &$0) }
    }

    mutating func say(_ record: Record) {
        guard let endpoint = session?.endpoint else { return }
        outbox.put(capacity: ControlPacket.maximumByteCount, to: endpoint) { session?.sealer.seal(record, into: &$0) }
    }

    // MARK: - Answers

    mutating func readAnswer(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        switch admission.receive(datagram, from: sender, at: now) {
        case .cookie:
            answerCookie()
            return .handled
        case .welcome(let terms, let keys):
            enter(keys, terms, at: sender, now)
            return .handled
        case .refusal(.unproved):
            // Anybody may have said so: the true answer may still come.
            if unprovedDeadline == nil, told != .refused(.unproved) { unprovedDeadline = now + Self.unprovedPatience }
            return .handled
        case .refusal(let reason):
            pause(for: reason, at: now)
            tell(.refused(reason))
            return .handled
        case .nothing: return .discarded(.unexpected)
        }
    }

    private mutating func enter(
        _ keys: SessionKeys, _ terms: Welcome.Terms, at endpoint: Endpoint, _ now: Instant
    ) {
        // The session before this one, if there is any, holds our place and our SSRC: the relay hands them to the new one where
        // it sees that both are ours.
        if session?.endpoint != endpoint || session?.seen != terms.address { say(.leave) }
        session = ChannelSession(
            keys, terms, endpoint: endpoint, token: .random(in: 0 ... .max, using: &generator), at: now)
        admission.end()
        unprovedDeadline = nil
        take(terms, at: now)
        talk.announceAgain()
        ownInfo.end()
        roster.begin(lease: .seconds(Int(terms.lease)), at: now)
        // Others may come first with the last places: only what answers our first record says that we have one.
        stay(at: now)
    }

    private mutating func take(_ terms: Welcome.Terms, at now: Instant) {
        if !configuration.isSynchronised {
            timeOfDay = WallClockEstimate(terms.clock, isSynchronised: false, at: now + suspended)
        }
    }

    private mutating func pause(for reason: Refusal.Reason, at now: Instant) {
        switch reason {
        case .unproved, .full, .displaced, .limited, .stopping, .left: admission.pause(at: now, using: &generator)
        case .refused, .rekeyed: admission.pauseLong(at: now, using: &generator)
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
        session?.presence.heardRecord(at: now)
        return take(said, at: now)
    }

    private mutating func take(_ record: Record, at now: Instant) -> Reception {
        switch record {
        case .renewed(let token, let receipt, let terms):
            session?.receipt = receipt
            let lease = Duration.seconds(Int(terms.lease))
            // Until its first record a relay passes nothing on: what was announced since WELCOME may have been lost on it.
            if !(session?.presence.hasAnswered ?? true) {
                talk.announceAgain()
                ownInfo.begin(at: now)
            }
            let wasLost = session?.presence.renewed(token: token, lease: lease, at: now) ?? false
            session?.seen = terms.address
            take(terms, at: now)
            // It was only slow.
            if wasLost {
                admission.end()
                unprovedDeadline = nil
            }
            admission.hasSucceeded()
            tell(.joined(terms.address))
            tell(at: now)
        case .pathChallenge(let number): say(.pathAnswer(number))
        case .goodbye(let reason):
            session = nil
            tell(isJoined ? .closed(reason) : .refused(reason))
            pause(for: reason, at: now)
        case .ssrcRefused(let refused):
            if refused == ssrc { tellOfCollision(at: now) }
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

    private mutating func tell(_ news: Told) {
        guard news != told else { return }
        told = news
        switch news {
        case .joined(let address): events.post(.joined(configuration.role, seenAt: Endpoint(address)))
        case .lost: events.post(.lost)
        case .refused(let reason): events.post(.refused(reason))
        case .closed(let reason): events.post(.closed(reason))
        case .nothing: break
        }
    }

    /// At most once a minute: a station that changed its SSRC at each claim of another would never be heard.
    mutating func tellOfCollision(at now: Instant) {
        if let lastCollision, now - lastCollision < RTPSession.collisionInterval { return }
        lastCollision = now
        events.post(.ssrcIsTaken)
    }
}
