internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets
internal import TenfourSession

/// Handles the datagrams of talkers that are forwarded to the channel: SRTP and announcements, each with a hop tag.
extension Relay {
    /// The length in bytes of the longest media datagram that is forwarded, without its hop tag. It fits into an
    /// Ethernet frame.
    public static let maximumMediaByteCount = 1_500
    private static let announcementPrice = CellRateLimit.Price(perSecond: 1, most: 8)

    mutating func media(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard datagram.count > RTPHeader.byteCount + HopTag.byteCount,
            datagram.count <= Self.maximumMediaByteCount + HopTag.byteCount,
            !RTCPCompound.isRTCP(secondByte: datagram[1])
        else { return .discarded(.malformedMedia) }
        let ssrc = SSRC(datagram.uint32(at: 8))
        let member: MemberID
        let byteCount: Int
        switch tagged(datagram, ssrc, from: sender) {
        case .right(let talker, let count): (member, byteCount) = (talker, count)
        case .wrong(let reason): return .discarded(reason)
        }
        guard let index = sessions.talker(of: member) else { return .discarded(.listenerMedia) }
        if sender != sessions.endpoint(of: member) { suspectMove(of: member, to: sender, datagram.count, at: now) }
        if let reason = excess(index, of: member, datagram.count, at: now) { return refuse(reason, of: index, at: now) }
        if let reason = floorRefusal(datagram.extracting(..<byteCount), index, member, ssrc, at: now) {
            return refuse(reason, of: index, at: now)
        }
        if let reason = boundStream(index, of: member, ssrc, byteCount, at: now) {
            return refuse(reason, of: index, at: now)
        }
        guard let isNew = receiveMedia(index, member, ssrc, datagram.extracting(..<byteCount), at: now) else {
            return refuse(.unannounced, of: index, at: now)
        }
        return isNew ? forward(.media, byteCount, of: member) : .handled
    }

    /// `isSigned` says that the announcement is one of a channel with an owner.
    mutating func announcement(
        of announcement: AnnouncedEpoch, isSigned: Bool, _ datagram: Span<UInt8>, from sender: Endpoint,
        at now: Instant
    ) -> Reception {
        let member: MemberID
        let byteCount: Int
        switch tagged(datagram, announcement.ssrc, from: sender) {
        case .right(let talker, let count): (member, byteCount) = (talker, count)
        case .wrong(let reason): return .discarded(reason)
        }
        guard let index = sessions.talker(of: member) else { return .discarded(.listenerMedia) }
        // Members of a channel with an owner accept no other announcements, and members of other channels know no signed ones.
        guard isSigned == managed.contains(sessions.channel(of: member)) else { return .discarded(.unexpectedControl) }
        if sender != sessions.endpoint(of: member) { suspectMove(of: member, to: sender, datagram.count, at: now) }
        if let reason = excess(index, of: member, datagram.count, at: now) { return refuse(reason, of: index, at: now) }
        if talkers[index]?.claim != announcement.ssrc {
            if let reason = claim(announcement, index, member, at: now) {
                return refuse(claim: reason, of: index, at: now)
            }
            talkers[index]?.refusals.claim = nil
        }
        let channel = sessions[member].channel
        if let reason = boundBits(byteCount, in: channel, at: now) { return refuse(reason, of: index, at: now) }
        if talkers[index]?.epoch != announcement.epoch { stateChanged(in: channel, claims: true) }
        talkers[index]?.announced(datagram.extracting(..<byteCount), of: announcement.epoch, at: now)
        return forward(.announcement(announcement.epoch), byteCount, of: member)
    }

    private mutating func forward(_ content: Forwarded, _ byteCount: Int, of member: MemberID) -> Reception {
        let channel = sessions.channel(of: member)
        channels.countForwarded(byteCount, in: channel)
        return .forward(content, byteCount: byteCount, channel: channel, talker: member)
    }

    private enum Tagged {
        case right(member: MemberID, byteCount: Int)
        case wrong(RelayDiscard)
    }

    /// Finds the member whose hop tag a datagram carries. The tag has no session id, so it is checked with the keys of
    /// the members at the sender's address, and then of the members that have registered the SSRC, because their
    /// address may have changed.
    private mutating func tagged(_ datagram: Span<UInt8>, _ ssrc: SSRC, from sender: Endpoint) -> Tagged {
        var failure = RelayDiscard.strangerMedia
        var search = sessions.search(sender)
        while let member = sessions.next(&search, at: sender) {
            let result = check(datagram, of: member)
            guard case .wrong(let reason) = result else { return result }
            failure = reason
        }
        guard let claimants = ssrcs[ssrc] else { return .wrong(failure) }
        for member in claimants where sessions[member].endpoint != sender {
            let result = check(datagram, of: member)
            guard case .wrong(let reason) = result else { return result }
            failure = reason
        }
        return .wrong(failure)
    }

    private mutating func check(_ datagram: Span<UInt8>, of member: MemberID) -> Tagged {
        guard let index = sessions.talker(of: member) else { return .wrong(.listenerMedia) }
        guard sessions.state(of: member) == .joined else { return .wrong(.earlyMedia) }
        do {
            guard let count = try talkers.check(datagram, of: index) else {
                return .wrong(.strangerMedia)
            }
            return .right(member: member, byteCount: count)
        } catch {
            switch error {
            case .short: return .wrong(.malformedMedia)
            case .replayed: return .wrong(.replayedMedia)
            case .forged: return .wrong(.forgedMedia)
            }
        }
    }

    /// Returns the reason to drop a datagram that exceeds the limits of its talker, and sends the talker these limits.
    /// Returns nil for a datagram within the limits. Dropped packets count as lost in the reports to the talker.
    private mutating func excess(_ index: TalkerIndex, of member: MemberID, _ byteCount: Int, at now: Instant)
        -> RelayDiscard?
    {
        guard let reason = talkers.spend(byteCount, of: index, at: now) else { return nil }
        sendLimits(to: index, at: now)
        return reason
    }

    private static let noticePrice = CellRateLimit.Price(perSecond: 0.1, most: 1)

    private mutating func sendLimits(to index: TalkerIndex, at now: Instant) {
        guard let limits = talkers[index]?.limits else { return }
        sendLimits(limits.talkerPacketsPerSecond, limits.talkerBitsPerSecond, to: index, at: now)
    }

    /// Tells a talker, at most once in 10 s, how much of its media is forwarded.
    mutating func sendLimits(_ packets: Int, _ bits: Int, to index: TalkerIndex, at now: Instant) {
        guard let member = talkers[index]?.member,
            talkers[index]?.notices.spend(Self.noticePrice, at: now) ?? false
        else { return }
        let notice = Record.limited(
            packetsPerSecond: UInt32(clamping: packets), bitsPerSecond: UInt32(clamping: bits))
        outbox.put(notice, for: member, of: &sessions)
    }

    /// Registers an SSRC for a talker in place of its former SSRC. Returns the reason to drop the announcement if the
    /// SSRC cannot be registered; nil if it was registered.
    private mutating func claim(
        _ announcement: AnnouncedEpoch, _ index: TalkerIndex, _ member: MemberID, at now: Instant
    ) -> RelayDiscard? {
        let channel = sessions[member].channel
        let ssrc = announcement.ssrc
        let isTaken =
            ssrcs[ssrc]?.contains { sessions[$0].channel == channel } ?? false
            || isTakenRemotely(by: announcement, in: channel)
        guard !isTaken, ssrc != reporters.line, ssrc != reporters.listeners else {
            outbox.put(.ssrcRefused(ssrc), for: member, of: &sessions)
            return .takenSSRC
        }
        if isOutdated(announcement, in: channel) { return .takenSSRC }
        guard talkers[index]?.announcements.spend(Self.announcementPrice, at: now) ?? false else {
            return .tooManyAnnouncements
        }
        guard makeRoomForSSRC(in: channel, of: index, at: now) else { return .tooManyTalkers }
        release(index, at: now)
        talkers[index]?.claim = ssrc
        talkers[index]?.claimedAt = now
        ssrcs.insert(ssrc, of: member)
        channels[channel]?.claimants.append(member)
        takeOverRemote(ssrc, in: channel, by: index, at: now)
        return nil
    }

    /// Sends a new member the last announcements of the channel's other talkers, unless they are too old to be
    /// accepted.
    mutating func sendAnnouncements(to member: MemberID, at now: Instant) {
        for talker in channels[sessions[member].channel]?.claimants ?? [] where talker != member {
            guard let said = sessions[talker].talker.flatMap({ talkers[$0] }), !said.announcement.isEmpty,
                now - said.announcedAt < .milliseconds(Int(Announcement.maximumClockError))
            else { continue }
            if hasRoomForMembers { outbox.put(repeated: said.announcement.span, for: member, of: &sessions) }
        }
        sendRemoteAnnouncements(to: member, at: now)
    }
}
