internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets
internal import TenfourSession

/// A member that has proved that it has the channel's talk key, and the state for checking and forwarding its packets.
struct Talker: Sendable {
    var member: MemberID
    var checker: HopTagChecker
    /// The limits of the talker's channel.
    var limits: RelayLimits
    private var packets = CellRateLimit()
    private var bits = CellRateLimit()
    /// Limits how often the talker may announce a new SSRC.
    var announcements = CellRateLimit()
    /// Limits how often the talker is sent LIMITED, which reports that its packets were dropped at its limits.
    var notices = CellRateLimit()
    /// The counts of the talker's datagrams that were refused, and not forwarded.
    var refusals = TalkerRefusals()
    /// The SSRC that the talker has registered in its channel; nil if it has none.
    var claim: SSRC?
    var claimedAt = Instant.start
    /// The time of the registration in milliseconds since 1970; later than that of a claim that was taken over from
    /// another relay.
    var claimMilliseconds: UInt64 = 0
    /// The time of the last packet of the talker's last ended stream; nil before the talker's first stream has ended.
    var talkspurtEndedAt: Instant?
    /// The talker's last announcement, without its hop tag, as it is forwarded; empty if there is none.
    private(set) var announcement: [UInt8] = []
    private(set) var announcedAt = Instant.start
    /// The epoch of the last announcement.
    private(set) var epoch: Epoch?
    /// The NAME item of the talker's last source description; nil if it sent none.
    var name: String?
    /// The talker's current stream; nil while it is silent.
    var stream: TalkerStream?
    /// The packet counts of the talker's last ended stream; nil if there is none. The talker's next stream with the
    /// same SSRC continues from these counts.
    var counts: TalkerCounts?

    init(_ member: MemberID, _ checker: HopTagChecker, _ limits: RelayLimits) {
        self.member = member
        self.checker = checker
        self.limits = limits
    }

    /// The burst of the packet rate and bit rate limits: two seconds at the permitted rate, in nanoseconds.
    private static let saved: Int64 = 2_000_000_000

    /// Counts a datagram against the packet and bit rate limits. Returns the reason to drop the datagram if it exceeds
    /// a limit; nil if it does not.
    mutating func spend(_ byteCount: Int, at now: Instant) -> RelayDiscard? {
        let packetCost = 1_000_000_000 / Int64(max(limits.talkerPacketsPerSecond, 1))
        let bitCost = Int64(8 * byteCount) * 1_000_000_000 / Int64(max(limits.talkerBitsPerSecond, 1))
        let now = now.nanoseconds
        guard packets.spend(packetCost, most: max(Self.saved, packetCost), at: now) else { return .tooManyPackets }
        return bits.spend(bitCost, most: Self.saved, at: now) ? nil : .tooManyBits
    }

    mutating func announced(_ datagram: Span<UInt8>, of epoch: Epoch, at now: Instant) {
        self.epoch = epoch
        announcement.removeAll(keepingCapacity: true)
        announcement.append(addingCapacity: datagram.count) {
            for index in datagram.indices { $0.append(datagram[index]) }
        }
        announcedAt = now
    }

    /// The time of the talker's last packet with its registered SSRC. If there is none, the time at which the SSRC was
    /// registered.
    var silentSince: Instant { stream?.lastPacket ?? max(talkspurtEndedAt ?? claimedAt, claimedAt) }

    mutating func forgetClaim() {
        claim = nil
        counts = nil
        epoch = nil
        announcement.removeAll()
    }
}

/// Adds and removes talkers, and receives their packets.
extension Relay {
    /// The rate limit of BYEs of talkers that are sent to all members of a channel.
    private static let goodbyePrice = CellRateLimit.Price(perSecond: 10, most: 20)

    mutating func addTalker(_ member: MemberID, _ checker: HopTagChecker) -> TalkerIndex {
        talkers.insert(Talker(member, checker, channels[sessions[member].channel]?.limits ?? limits))
    }

    mutating func removeTalker(_ index: TalkerIndex, at now: Instant) {
        release(index, at: now)
        talkers.remove(index)
    }

    /// Moves the talker state of an earlier session to the new session of the same member: its SSRC, its announcement
    /// and its counts. Listeners do not notice the change.
    mutating func handOver(from old: MemberID, to member: MemberID) {
        guard let index = sessions[old].talker, let own = sessions[member].talker, let ssrc = talkers[index]?.claim,
            let checker = talkers[own]?.checker
        else { return }
        talkers[index]?.member = member
        talkers[index]?.checker = checker
        talkers[own]?.member = old
        // The counts are those of a session.
        talkers[index]?.refusals.counts = MediaRefusalCounts()
        sessions[member].talker = index
        sessions[old].talker = own
        ssrcs.replace(old, by: member, of: ssrc)
        if var claimants = channels[sessions[member].channel]?.claimants {
            replace(old, by: member, in: &claimants)
            channels[sessions[member].channel]?.claimants = claimants
        }
        if talkers[index]?.stream != nil { post(.quiet(member: old)) }
    }

    func isTalking(_ member: MemberID) -> Bool {
        sessions[member].talker.flatMap { talkers[$0]?.stream } != nil
    }

    /// Releases a talker's SSRC, and sends BYE to the joined members of its channel, within a rate limit.
    mutating func release(_ index: TalkerIndex, at now: Instant) {
        guard let talker = talkers[index], let ssrc = talker.claim else { return }
        let channel = sessions[talker.member].channel
        silenceTalker(index)
        sendGoodbye(of: ssrc, in: channel, except: talker.member, at: now)
    }

    /// Sends BYE for a released SSRC to the joined members of a channel, within a rate limit.
    mutating func sendGoodbye(of ssrc: SSRC, in channel: ChannelIndex, except talker: MemberID?, at now: Instant) {
        guard channels[channel]?.goodbyes.spend(Self.goodbyePrice, at: now) ?? false else { return }
        let goodbye = Goodbye(sources: [ssrc])
        let report = [UInt8](capacity: goodbye.byteCount) { goodbye.write(into: &$0) }
        var next = sessions.first(in: channel)
        while let member = next {
            next = sessions.next(behind: member)
            guard member != talker, sessions[member].state == .joined else { continue }
            outbox.put(report: report.span, for: member, of: &sessions)
        }
    }

    /// Releases a talker's SSRC and ends its stream without sending BYE.
    mutating func silenceTalker(_ index: TalkerIndex) {
        guard let talker = talkers[index], let ssrc = talker.claim else { return }
        endTalkspurt(index)
        channels[sessions[talker.member].channel]?.slots.remove(index)
        ssrcs.remove(ssrc, of: talker.member)
        channels[sessions[talker.member].channel]?.claimants.removeAll { $0 == talker.member }
        talkers[index]?.forgetClaim()
        stateChanged(in: sessions[talker.member].channel, claims: true)
    }

    /// Records a media packet of a talker. Returns whether to forward it: false for a duplicate, such as the
    /// retransmission of a packet that was only late; nil if its SSRC was not announced.
    mutating func receiveMedia(
        _ index: TalkerIndex, _ member: MemberID, _ ssrc: SSRC, _ datagram: Span<UInt8>, at now: Instant
    ) -> Bool? {
        // Records a packet of a current stream, as most packets are. This changes the talker in place; the code below
        // copies the talker in order to read it.
        if let arrival = talkers.packetArrived(datagram, of: ssrc, from: index, at: now) {
            if arrival.beginsTransmission { expectHearings(of: sessions.channel(of: member), at: now) }
            return heard(arrival, at: now)
        }
        guard let talker = talkers[index], talker.claim == ssrc else { return nil }
        talkers.begin(TalkerStream(ssrc, talker.limits, talker.counts, at: now), of: index, at: now)
        channels[sessions[member].channel]?.status.talkerCount += 1
        post(.talking(member: member, sessions[member].endpoint))
        expectHearings(of: sessions[member].channel, at: now)
        return talkers[index]?.stream?.packetArrived(datagram, of: ssrc, at: now).map { heard($0, at: now) }
    }

    private mutating func heard(_ arrival: TalkerStream.Arrival, at now: Instant) -> Bool {
        // Brings the deadline forward for a missing packet only. An arriving packet makes no report due earlier, and
        // delays the end of the stream.
        if let due = arrival.missesDue { talkers.expect(due) }
        return arrival.reception != .duplicate
    }

    /// Ends the stream of a talker, for example after 10 s without a packet.
    mutating func endTalkspurt(_ index: TalkerIndex) {
        guard let member = talkers[index]?.member, talkers.endStream(of: index) else { return }
        channels[sessions[member].channel]?.status.talkerCount -= 1
        post(.quiet(member: member))
    }
}

private func replace(_ old: MemberID, by new: MemberID, in members: inout [MemberID]) {
    for index in members.indices where members[index] == old { members[index] = new }
}
