internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// One who has proved the talk key: what is needed to know its packets, and to hear them.
struct Talker: Sendable {
    var member: Int
    var checker: HopTagChecker
    /// Those of its channel.
    var limits: RelayLimits
    private var packets = CellRateLimit()
    private var bits = CellRateLimit()
    /// Of SSRCs other than the one before.
    var announcements = CellRateLimit()
    /// Of being told that it sends too much.
    var notices = CellRateLimit()
    /// The SSRC that is its own in its channel.
    var claim: SSRC?
    var claimedAt = Instant.start
    /// When it fell silent last.
    var talkspurtEndedAt: Instant?
    /// The last one, as it goes to listeners; empty before the first.
    private(set) var announcement: [UInt8] = []
    private(set) var announcedAt = Instant.start
    /// For people, as it says itself.
    var name: String?
    /// While it talks.
    var stream: TalkerStream?
    /// Of what it said under its SSRC before it fell silent.
    var counts: TalkerCounts?

    init(_ member: Int, _ checker: HopTagChecker, _ limits: RelayLimits) {
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

/// Talkers come, speak, and go.
extension Relay {
    /// To each listener of a channel, so many a second.
    private static let goodbyePrice = CellRateLimit.Price(perSecond: 10, most: 20)

    mutating func addTalker(_ member: Int, _ checker: HopTagChecker) -> Int {
        let talker = Talker(member, checker, channels[Int(sessions[member].channel)]?.limits ?? limits)
        if let free = freeTalkers.popLast() {
            talkers[free] = talker
            return free
        }
        talkers.append(talker)
        return talkers.count - 1
    }

    mutating func removeTalker(_ place: Int, at now: Instant) {
        release(place, at: now)
        talkers[place] = nil
        freeTalkers.append(place)
    }

    /// A member that joins anew from where it was goes on talking: what it has claimed and said becomes that of its new session,
    /// and those who hear it notice nothing.
    mutating func handOver(from old: Int, to member: Int) {
        let (place, own) = (Int(sessions[old].talker), Int(sessions[member].talker))
        guard place >= 0, own >= 0, let ssrc = talkers[place]?.claim, let checker = talkers[own]?.checker else {
            return
        }
        talkers[place]?.member = member
        talkers[place]?.checker = checker
        talkers[own]?.member = old
        sessions[member].talker = Int32(place)
        sessions[old].talker = Int32(own)
        replace(old, by: member, in: &claims[ssrc, default: []])
        if var claimants = channels[Int(sessions[member].channel)]?.claimants {
            replace(old, by: member, in: &claimants)
            channels[Int(sessions[member].channel)]?.claimants = claimants
        }
        if talkers[place]?.stream != nil { post(.quiet(member: old)) }
    }

    func isTalking(_ member: Int) -> Bool {
        let place = Int(sessions[member].talker)
        return place >= 0 && talkers[place]?.stream != nil
    }

    /// Its SSRC is free again, and those who heard it are told.
    mutating func release(_ place: Int, at now: Instant) {
        guard let talker = talkers[place], let ssrc = talker.claim else { return }
        let channel = Int(sessions[talker.member].channel)
        silenceTalker(place)
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
    mutating func silenceTalker(_ place: Int) {
        guard let talker = talkers[place], let ssrc = talker.claim else { return }
        endTalkspurt(place)
        channels[Int(sessions[talker.member].channel)]?.voices.remove(place)
        claims[ssrc]?.removeAll { $0 == talker.member }
        channels[Int(sessions[talker.member].channel)]?.claimants.removeAll { $0 == talker.member }
        if claims[ssrc]?.isEmpty ?? false { claims[ssrc] = nil }
        talkers[place]?.forgetClaim()
    }

    /// A packet of its voice. Whether it goes to all: not when it has come before, as when it was only late and is sent again;
    /// nil where its SSRC was not announced.
    mutating func receiveMedia(
        _ place: Int, _ member: Int, _ ssrc: SSRC, _ datagram: Span<UInt8>, at now: Instant
    ) -> Bool? {
        // To read of a talker is to copy it whole, so that the most of all packets only change it.
        if let arrival = talkers[place]?.stream?.packetArrived(datagram, of: ssrc, at: now) {
            return heard(arrival, at: now)
        }
        guard let talker = talkers[place], talker.claim == ssrc else { return nil }
        talkers[place]?.stream = TalkerStream(ssrc, talker.limits, talker.counts, at: now)
        talking.append(place)
        attend(by: now + TalkerStream.firstReport)
        channels[Int(sessions[member].channel)]?.status.talkerCount += 1
        post(.talking(member: member, sessions[member].endpoint))
        return talkers[place]?.stream?.packetArrived(datagram, of: ssrc, at: now).map { heard($0, at: now) }
    }

    private mutating func heard(_ arrival: TalkerStream.Arrival, at now: Instant) -> Bool {
        // All else that is due moves away as packets come.
        if let due = arrival.missesDue { attend(by: due) }
        return arrival.reception != .duplicate
    }

    private mutating func attend(by moment: Instant) { attention = attention.map { min($0, moment) } ?? moment }

    /// It does not talk any more.
    mutating func endTalkspurt(_ place: Int) {
        guard let talker = talkers[place], talker.stream != nil else { return }
        talkers[place]?.counts = talker.stream?.counts
        talkers[place]?.talkspurtEndedAt = talker.stream?.lastPacket
        talkers[place]?.stream = nil
        talking.removeAll { $0 == place }
        channels[Int(sessions[talker.member].channel)]?.status.talkerCount -= 1
        post(.quiet(member: talker.member))
    }
}

private func replace(_ old: Int, by new: Int, in members: inout [Int]) {
    for index in members.indices where members[index] == old { members[index] = new }
}
