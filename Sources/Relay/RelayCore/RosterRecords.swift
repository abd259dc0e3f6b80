internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// Sends the roster to members: it lists talkers, and counts other members. The members' infos are forwarded without
/// decryption.
extension Relay {
    /// A roster request counts as this many records in the member's record rate limit, in addition to the record
    /// itself.
    static let requestCost = 25
    /// Limits roster requests in all channels together.
    private static let pagePrice = CellRateLimit.Price(perSecond: 200, most: 400)

    // MARK: - Changes

    /// Adds a member that has sent its first record to the roster. Call this after the member was counted in its
    /// channel.
    mutating func rosterJoined(_ member: MemberID, at now: Instant) {
        let channel = sessions[member].channel
        if !list(member, at: now) { channels[channel]?.roster.countChanged(at: now) }
        rosterChanged(in: channel, at: now)
        floorMembersChanged(in: channel, at: now)
    }

    /// Sends the changed number of listeners with the next roster update.
    mutating func rosterCountChanged(in channel: ChannelIndex, at now: Instant) {
        channels[channel]?.roster.countChanged(at: now)
        stateChanged(in: channel)
        expectRoster(of: channel)
    }

    /// Removes a member from the roster. Call this after the member was removed from the count of its channel.
    /// `session` is the member's former session.
    mutating func rosterLeft(_ member: MemberID, _ session: MemberSession, at now: Instant) {
        let channel = session.channel
        if session.isListed {
            channels[channel]?.roster.remove(member, at: now)
        } else {
            channels[channel]?.roster.countChanged(at: now)
        }
        if channels[channel]?.status.memberCount == 0 {
            forgetRemotes(in: channel)
            channels[channel]?.roster.forgetChanges()
        }
        rosterChanged(in: channel, at: now)
        floorMembersChanged(in: channel, at: now)
    }

    /// Lists a member that may talk, if the roster has room. Returns false if the member is only counted.
    private mutating func list(_ member: MemberID, at now: Instant) -> Bool {
        let channel = sessions[member].channel
        guard sessions[member].role == .talk, channels[channel]?.roster.hasRoom ?? false else { return false }
        sessions[member].isListed = true
        channels[channel]?.roster.list(member, at: now)
        return true
    }

    /// Handles an INFO record: subscribes the member to roster updates, and replaces the info that the roster shows for
    /// the member; nil removes the info.
    mutating func infoArrived(_ info: SealedMemberInfo?, from member: MemberID, at now: Instant) {
        let channel = sessions[member].channel
        sessions[member].wantsRoster = true
        if infos[sessions[member].info] != info {
            if let info {
                sessions[member].info = infos.put(info, at: sessions[member].info)
            } else {
                forgetInfo(of: member)
            }
            if sessions[member].isListed { channels[channel]?.roster.entryChanged(of: member, at: now) }
        }
        relist(member, at: now)
        rosterChanged(in: channel, at: now)
        sendRosterHead(to: member)
    }

    /// Lists a member for which the roster had no room before, if it has room now.
    private mutating func relist(_ member: MemberID, at now: Instant) {
        if !sessions[member].isListed { _ = list(member, at: now) }
    }

    mutating func forgetInfo(of member: MemberID) {
        infos.remove(sessions[member].info)
        sessions[member].info = -1
    }

    /// Passes the info of an earlier session at the same address to the new session, unless the new session has sent an
    /// info already.
    mutating func handInfoOver(from old: MemberID, to member: MemberID) {
        guard sessions[member].info < 0 else { return }
        sessions[member].info = sessions[old].info
        sessions[old].info = -1
    }

    // MARK: - Updates

    /// Sends the current revision of the roster to a member that has renewed its lease, so that the member notices
    /// missed updates.
    mutating func rosterRenewed(_ member: MemberID, at now: Instant) {
        guard sessions[member].wantsRoster else { return }
        relist(member, at: now)
        mergeRoster(of: sessions[member].channel, at: now)
        sendRosterHead(to: member)
        expectRoster(of: sessions[member].channel)
    }

    private mutating func sendRosterHead(to member: MemberID) {
        let revision = channels[sessions[member].channel]?.roster.revision ?? 0
        outbox.put(.roster(rosterHead(for: member, since: revision), []), for: member, of: &sessions)
    }

    private func rosterHead(for member: MemberID, since previous: UInt32) -> Roster.Head {
        let channel = channels[sessions[member].channel]
        let members = (channel?.status.memberCount ?? 0) + (channel?.status.remoteMemberCount ?? 0)
        let others = members - (channel?.roster.listed.count ?? 0) + (channel?.otherListenerCount ?? 0)
        return Roster.Head(
            revision: channel?.roster.revision ?? 0, previous: previous, otherCount: UInt32(clamping: others),
            counter: infos[sessions[member].info]?.counter ?? 0)
    }

    /// Sends the next roster update of `channel` when it is due, if the roster has changed.
    mutating func expectRoster(of channel: ChannelIndex) {
        if let due = channels[channel]?.roster.due { rosters.expect(channel, at: due) }
    }

    mutating func sendRosters(at now: Instant) {
        for channel in rosters.takeDue(at: now) {
            if let due = channels[channel]?.roster.due, due <= now { sendRoster(of: channel, at: now) }
            if let due = channels[channel]?.roster.due { rosters.expectAgain(channel, at: due, after: now) }
        }
    }

    /// Sends the changes of a channel to all members that have subscribed, one record each.
    private mutating func sendRoster(of channel: ChannelIndex, at now: Instant) {
        guard let previous = channels[channel]?.roster.revision,
            let memberCount = channels[channel]?.status.memberCount,
            let changed = channels[channel]?.roster.removeChanges(for: memberCount, at: now)
        else { return }
        let listed = channels[channel]?.roster.listed ?? []
        let entries = changed.map {
            listed.contains($0) ? entry(of: $0, in: channel) : Roster.Entry(number: $0.rosterNumber, .gone)
        }
        var next = sessions.first(in: channel)
        while let member = next {
            next = sessions.next(behind: member)
            guard sessions[member].wantsRoster else { continue }
            outbox.put(.roster(rosterHead(for: member, since: previous), entries), for: member, of: &sessions)
        }
    }

    private func entry(of member: MemberID, in channel: ChannelIndex) -> Roster.Entry {
        let info = member.isRemote ? channels[channel]?.remoteMembers[member] : infos[sessions[member].info]
        return Roster.Entry(number: member.rosterNumber, .here(info))
    }

    // MARK: - Pages

    /// Answers a roster request with up to `Roster.pageLength` entries. Requires a receipt that proves that the member
    /// still receives at its address, because the answer is many times as long as the request.
    mutating func rosterRequestArrived(
        _ part: Roster.Part, from position: UInt32, _ receipt: UInt64, of session: UInt64, _ member: MemberID,
        from sender: Endpoint, at now: Instant
    ) -> Reception {
        let endpoint = sessions[member].endpoint
        guard sender == endpoint, joins.accepts(receipt: receipt, for: session, at: PeerAddress(endpoint), now)
        else { return .discarded(.staleReceipt) }
        guard sessions[member].records.spend(Self.recordPrice, count: Self.requestCost, at: now),
            rosterPages.spend(Self.pagePrice, at: now)
        else { return .discarded(.tooManyRecords) }
        let channel = sessions[member].channel
        let members = part == .listed ? channels[channel]?.roster.listed ?? [] : unlistedMembersWithInfo(in: channel)
        let start = min(Int(position), members.count)
        let page = members[start...].prefix(Roster.pageLength)
        var head = Roster.PageHead(
            part: part, revision: channels[channel]?.roster.revision ?? 0, position: UInt32(start),
            total: UInt32(members.count))
        for piece in stride(
            from: page.startIndex, to: max(page.endIndex, page.startIndex + 1), by: Roster.maximumEntryCount)
        {
            head.position = UInt32(piece)
            let entries = page[piece...].prefix(Roster.maximumEntryCount).map { entry(of: $0, in: channel) }
            outbox.put(.rosterPage(head, entries), for: member, of: &sessions)
        }
        return .handled
    }

    /// Returns the members that are not listed but have sent an info, newest first.
    private func unlistedMembersWithInfo(in channel: ChannelIndex) -> [MemberID] {
        var members: [MemberID] = []
        var next = sessions.first(in: channel)
        while let member = next {
            next = sessions.next(behind: member)
            let isTelling =
                sessions[member].state == .joined && !sessions[member].isListed && sessions[member].info >= 0
            if isTelling { members.append(member) }
        }
        return members
    }
}
