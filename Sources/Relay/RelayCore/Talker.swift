internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets
internal import TenfourSession

/// A member that has proved the talk key, with what is needed to check and forward its packets.
struct Talker: Sendable {
    var member: MemberID
    var checker: HopTagChecker
    /// The limits of its channel.
    var limits: RelayLimits
    private var packets = CellRateLimit()
    private var bits = CellRateLimit()
    /// Limits announcements of new SSRCs.
    var announcements = CellRateLimit()
    /// Limits the records that tell it that it sends too much.
    var notices = CellRateLimit()
    /// The SSRC that is its own in its channel.
    var claim: SSRC?
    var claimedAt = Instant.start
    /// The time of its last packet before the present silence.
    var talkspurtEndedAt: Instant?
    /// The last announcement, as it goes to listeners; empty before the first.
    private(set) var announcement: [UInt8] = []
    private(set) var announcedAt = Instant.start
    /// The name that it gives itself.
    var name: String?
    /// Its stream while it talks.
    var stream: TalkerStream?
    /// The counts of its stream before the present silence, under the same SSRC.
    var counts: TalkerCounts?

    init(_ member: MemberID, _ checker: HopTagChecker, _ limits: RelayLimits) {
        self.member = member
        self.checker = checker
        self.limits = limits
    }

    /// What is saved up of the limits, in nanoseconds: two seconds.
    private static let saved: Int64 = 2_000_000_000

    /// Counts a datagram against the limits; the reason where it is more than they allow.
    mutating func spend(_ byteCount: Int, at now: Instant) -> RelayDiscard? {
        let packetCost = 1_000_000_000 / Int64(max(limits.talkerPacketsPerSecond, 1))
        let bitCost = Int64(8 * byteCount) * 1_000_000_000 / Int64(max(limits.talkerBitsPerSecond, 1))
        let now = now.nanoseconds
        guard packets.spend(packetCost, most: max(Self.saved, packetCost), at: now) else { return .tooManyPackets }
        return bits.spend(bitCost, most: Self.saved, at: now) ? nil : .tooManyBits
    }

    mutating func announced(_ datagram: Span<UInt8>, at now: Instant) {
        announcement.removeAll(keepingCapacity: true)
        announcement.append(addingCapacity: datagram.count) {
            for index in datagram.indices { $0.append(datagram[index]) }
        }
        announcedAt = now
    }

    /// When its last packet came under the SSRC that is its own, or its first announcement where none came.
    var silentSince: Instant { stream?.lastPacket ?? max(talkspurtEndedAt ?? claimedAt, claimedAt) }

    mutating func forgetClaim() {
        claim = nil
        counts = nil
        announcement.removeAll()
    }
}

/// Adds, hears and removes talkers.
extension Relay {
    /// To each listener of a channel, so many a second.
    private static let goodbyePrice = CellRateLimit.Price(perSecond: 10, most: 20)

    mutating func addTalker(_ member: MemberID, _ checker: HopTagChecker) -> TalkerIndex {
        talkers.insert(Talker(member, checker, channels[sessions[member].channel]?.limits ?? limits))
    }

    mutating func removeTalker(_ index: TalkerIndex, at now: Instant) {
        release(index, at: now)
        talkers.remove(index)
    }

    /// A member that joins anew from where it was goes on talking: what it has claimed and said becomes that of its new session,
    /// and those who hear it notice nothing.
    mutating func handOver(from old: MemberID, to member: MemberID) {
        guard let index = sessions[old].talker, let own = sessions[member].talker, let ssrc = talkers[index]?.claim,
            let checker = talkers[own]?.checker
        else { return }
        talkers[index]?.member = member
        talkers[index]?.checker = checker
        talkers[own]?.member = old
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

    /// Its SSRC is free again, and those who heard it are told.
    mutating func release(_ index: TalkerIndex, at now: Instant) {
        guard let talker = talkers[index], let ssrc = talker.claim else { return }
        let channel = sessions[talker.member].channel
        silenceTalker(index)
        if channels[channel]?.goodbyes.spend(Self.goodbyePrice, at: now) ?? false {
            let goodbye = Goodbye(sources: [ssrc])
            let report = [UInt8](capacity: goodbye.byteCount) { goodbye.write(into: &$0) }
            var next = sessions.first(in: channel)
            while let member = next {
                next = sessions.next(behind: member)
                guard member != talker.member, sessions[member].state == .joined else { continue }
                outbox.put(report: report.span, for: member, of: &sessions)
            }
        }
    }

    /// Ends it without a word to those who hear it.
    mutating func silenceTalker(_ index: TalkerIndex) {
        guard let talker = talkers[index], let ssrc = talker.claim else { return }
        endTalkspurt(index)
        channels[sessions[talker.member].channel]?.slots.remove(index)
        ssrcs.remove(ssrc, of: talker.member)
        channels[sessions[talker.member].channel]?.claimants.removeAll { $0 == talker.member }
        talkers[index]?.forgetClaim()
    }

    /// A packet of its voice. Whether it goes to all: not when it has come before, as when it was only late and is sent again;
    /// nil where its SSRC was not announced.
    mutating func receiveMedia(
        _ index: TalkerIndex, _ member: MemberID, _ ssrc: SSRC, _ datagram: Span<UInt8>, at now: Instant
    ) -> Bool? {
        // To read of a talker is to copy it whole, so that the most of all packets only change it.
        if let arrival = talkers.packetArrived(datagram, of: ssrc, from: index, at: now) {
            return heard(arrival, at: now)
        }
        guard let talker = talkers[index], talker.claim == ssrc else { return nil }
        talkers.begin(TalkerStream(ssrc, talker.limits, talker.counts, at: now), of: index, at: now)
        channels[sessions[member].channel]?.status.talkerCount += 1
        post(.talking(member: member, sessions[member].endpoint))
        return talkers[index]?.stream?.packetArrived(datagram, of: ssrc, at: now).map { heard($0, at: now) }
    }

    private mutating func heard(_ arrival: TalkerStream.Arrival, at now: Instant) -> Bool {
        // All else that is due moves away as packets come.
        if let due = arrival.missesDue { talkers.expect(due) }
        return arrival.reception != .duplicate
    }

    /// Ends the stream of a talker that has fallen silent.
    mutating func endTalkspurt(_ index: TalkerIndex) {
        guard let member = talkers[index]?.member, talkers.endStream(of: index) else { return }
        channels[sessions[member].channel]?.status.talkerCount -= 1
        post(.quiet(member: member))
    }
}

private func replace(_ old: MemberID, by new: MemberID, in members: inout [MemberID]) {
    for index in members.indices where members[index] == old { members[index] = new }
}
