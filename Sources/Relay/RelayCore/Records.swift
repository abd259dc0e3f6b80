internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets
internal import TenfourSession

/// Handles the encrypted control records that members send to the relay.
extension Relay {
    mutating func record(
        _ datagram: Span<UInt8>, of session: UInt64, from sender: Endpoint, at now: Instant
    ) -> Reception {
        guard let member = sessions.member(of: session) else {
            return unknownSession(session, from: sender, at: now)
        }
        let record: Record
        switch Self.open(datagram, from: member, &sessions.keys, within: &opened) {
        case .success(let opened): record = opened
        case .failure(.forged): return .discarded(.forgedRecord)
        case .failure(.replayed): return .discarded(.replayedRecord)
        case .failure(.malformed): return .discarded(.malformedRecord)
        }
        switch record {
        case .leave:
            end(member, at: now)
            return .handled
        case .pathAnswer(let answer):
            return pathAnswerArrived(answer, of: member, from: sender, at: now)
        case .renewal, .report, .info, .rosterRequest, .floor, .managed, .hearing: break
        case .renewed, .pathChallenge, .goodbye, .ssrcRefused, .limited, .roster, .rosterPage, .refused,
            .hearingRequest, .hearingList:
            return .discarded(.malformedRecord)
        }
        guard sessions[member].records.spend(Self.recordPrice, at: now) else { return .discarded(.tooManyRecords) }
        if let reason = begin(member, at: now) { return .discarded(reason) }
        if sender != sessions[member].endpoint { suspectMove(of: member, to: sender, datagram.count, at: now) }
        switch record {
        case .renewal(let token, let receipt):
            renewalArrived(token, receipt, of: session, member, from: sender, at: now)
        case .report(let range): return report(range, from: member, at: now)
        case .info(let info): infoArrived(info, from: member, at: now)
        case .rosterRequest(let part, let position, let receipt):
            return rosterRequestArrived(part, from: position, receipt, of: session, member, from: sender, at: now)
        case .floor(let message): return floorArrived(message, from: member, at: now)
        case .hearing(let report): hearingArrived(report, from: member, at: now)
        case .managed(let range):
            return managedRecordArrived(range, of: session, member, from: sender, at: now)
        // Ignores records that were handled above, or that members do not send. There is no `default`, so that the
        // compiler reports a new kind of record here.
        case .leave, .pathAnswer, .renewed, .pathChallenge, .goodbye, .ssrcRefused, .limited, .roster, .rosterPage,
            .refused, .hearingRequest, .hearingList:
            break
        }
        return .handled
    }

    private mutating func unknownSession(_ session: UInt64, from sender: Endpoint, at now: Instant) -> Reception {
        if hasRoomForStrangers, joins.allowsUnknownSession(at: sender.address, now) {
            outbox.put(capacity: 12, to: sender) { ControlPacket.writeUnknownSession(session, into: &$0) }
        }
        return .discarded(.unknownSession)
    }

    /// Copies a datagram into the buffer `room` and decrypts its record there, because a received datagram is
    /// read-only.
    private static func open(
        _ datagram: Span<UInt8>, from member: MemberID, _ keys: inout SessionKeyTable, within room: inout [UInt8]
    ) -> Result<Record, RecordOpener.Failure> {
        for index in datagram.indices { room[index] = datagram[index] }
        var bytes = room.mutableSpan
        var record = bytes._mutatingExtracting(first: datagram.count)
        do {
            return .success(try keys.open(&record, from: member.number))
        } catch {
            return .failure(error)
        }
    }

    /// Answers a RENEWAL. Renews the lease only if the datagram was sent from the member's address, and if its receipt
    /// proves that the member still receives at this address. Without these conditions, the relay would go on sending
    /// to an address that the member has left.
    private mutating func renewalArrived(
        _ token: UInt64, _ receipt: UInt64, of session: UInt64, _ member: MemberID, from sender: Endpoint,
        at now: Instant
    ) {
        let endpoint = sessions[member].endpoint
        let address = PeerAddress(endpoint)
        let isThere = sender == endpoint && joins.accepts(receipt: receipt, for: session, at: address, now)
        if isThere { renew(member, at: now) }
        let next = joins.receipt(for: session, at: address, now)
        let terms = terms(for: sender, hasTrailers: sessions.hasTrailers(member), at: now)
        outbox.put(.renewed(token: token, receipt: next, terms), for: member, of: &sessions)
        if isThere { rosterRenewed(member, at: now) }
    }

    /// Extends the lease of a member to `Relay.lease` from now.
    mutating func renew(_ member: MemberID, at now: Instant) {
        sessions.renew(member, until: now + .seconds(Int(Self.lease)))
    }

    /// Lets a waiting member join when its first record arrives, which proves that it has received WELCOME. Does nothing
    /// for a member that has joined already. Otherwise ends the session and returns the reason if there is no room for the
    /// member: other members may have joined since WELCOME was sent, or the session that the member was to replace has moved
    /// to another address; or if the channel's owner has removed the member meanwhile.
    private mutating func begin(_ member: MemberID, at now: Instant) -> RelayDiscard? {
        guard sessions[member].state == .waiting else { return nil }
        guard isAdmitted(member) else {
            outbox.put(.goodbye(.notAdmitted), for: member, of: &sessions)
            end(member, at: now)
            return .notAdmitted
        }
        let endpoint = sessions[member].endpoint
        let channel = sessions[member].channel
        // Removes the handshake from the count of its host, because many listeners may share one address and join at
        // the same time.
        joins.sessionBegan(of: member, at: endpoint.address)
        takePlace(of: endpoint, in: channel, by: member, at: now)
        guard makeRoom(for: member, at: now) else {
            outbox.put(.goodbye(.full), for: member, of: &sessions)
            end(member, at: now)
            return .full
        }
        renew(member, at: now)
        countPlace(member)
        rosterJoined(member, at: now)
        expectHearings(of: channel, at: now)
        channels[channel]?.status.joinedCount += 1
        post(.joined(member: member, channel: channel, endpoint))
        if isTalking(member) { post(.talking(member: member, endpoint)) }
        sendAnnouncements(to: member, at: now)
        joinedManaged(member, at: now)
        return nil
    }

    /// Ends a session: frees all of its state, sends BYE for its SSRC, if it has one, and posts `left` if it had
    /// joined.
    mutating func end(_ member: MemberID, at now: Instant) {
        let session = sessions[member]
        let channel = session.channel
        defer { closeIfUnused(channel) }
        if let talker = session.talker { removeTalker(talker, at: now) }
        forgetViews(of: member, in: channel)
        joins.sessionEnded(of: member)
        paths.remove(member)
        forgetInfo(of: member)
        sessions.remove(member)
        leaveFloor(member, of: channel, at: now)
        channels[channel]?.hearing.remove(member, wasAble: session.statesHearing)
        guard session.state == .joined else { return }
        uncountPlace(member, session)
        leftManaged(member, channel)
        rosterLeft(member, session, at: now)
        post(.left(member: member, channel: channel))
    }
}
