internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// Asks members how they receive the talkers of their channel, and states the answers to the talkers
/// (Protocol/06-control.md, "Who hears the talker").
extension Relay {
    /// The number of waiting datagrams above which nobody is asked: a request that has waited asks for what is over.
    static let maximumWaitingCount = 16
    private static let retryInterval = Duration.milliseconds(50)

    /// Polls the channel as soon as possible, because a talker begins to transmit, or a member has joined.
    mutating func expectHearings(of channel: ChannelIndex, at now: Instant) { hearings.expect(channel, at: now) }

    mutating func hearingArrived(_ report: HearingReport, from member: MemberID, at now: Instant) {
        let channel = sessions[member].channel
        if !sessions[member].statesHearing {
            sessions[member].statesHearing = true
            channels[channel]?.hearing.memberIsAble()
            expectHearings(of: channel, at: now)
        }
        guard hearings.contains(channel) else { return }
        channels[channel]?.hearing.reportArrived(report, from: member, at: now)
        if let due = channels[channel]?.hearing.deadline(at: now) { hearings.expect(channel, at: due) }
    }

    /// `isBehind` is true if the socket has not accepted what was sent before.
    mutating func pollHearings(isBehind: Bool, at now: Instant) {
        for channel in hearings.takeDue(at: now) {
            if let deadline = pollHearings(of: channel, isBehind: isBehind, at: now) {
                hearings.expectAgain(channel, at: deadline, after: now)
            }
        }
    }

    /// Sends what is due in a channel. Returns the time of the next poll; nil if nobody transmits.
    private mutating func pollHearings(of channel: ChannelIndex, isBehind: Bool, at now: Instant) -> Instant? {
        let (talkers, pause) = transmittingTalkers(in: channel, at: now)
        channels[channel]?.hearing.setTalkers(talkers, at: now)
        guard channels[channel]?.hearing.isIdle == false else { return nil }
        if !talkers.isEmpty { askMembers(of: channel, at: now) }
        if isBehind { return now + Self.retryInterval }
        if let (request, members) = channels[channel]?.hearing.nextRequest(at: now) {
            for member in members { outbox.put(.hearingRequest(request), for: member, of: &sessions) }
        }
        let status = channels[channel]?.status
        let others = (status?.remoteMemberCount ?? 0) + (channels[channel]?.otherListenerCount ?? 0)
        let count = (status?.memberCount ?? 0) + others
        while let (list, talker) = channels[channel]?.hearing.nextList(of: count, at: now) {
            outbox.put(.hearingList(list), for: talker, of: &sessions)
        }
        guard let deadline = channels[channel]?.hearing.deadline(at: now) else { return nil }
        return pause.map { min($0, deadline) } ?? deadline
    }

    /// The talkers of which a packet has come within the last second, if they know the lists, and the time at which the first
    /// of them pauses if no other comes.
    private func transmittingTalkers(
        in channel: ChannelIndex, at now: Instant
    ) -> (talkers: [(member: MemberID, ssrc: SSRC)], pause: Instant?) {
        var found: [(member: MemberID, ssrc: SSRC)] = []
        var pause: Instant?
        for member in channels[channel]?.claimants ?? [] {
            guard sessions[member].statesHearing, let stream = sessions[member].talker.flatMap({ talkers[$0]?.stream }),
                now - stream.lastPacket < TalkerSlots.pause
            else { continue }
            found.append((member, stream.ssrc))
            let end = stream.lastPacket + TalkerSlots.pause
            pause = pause.map { min($0, end) } ?? end
        }
        return (found, pause)
    }

    /// Asks all members of a channel, or a random sample of many.
    private mutating func askMembers(of channel: ChannelIndex, at now: Instant) {
        guard let hearing = channels[channel]?.hearing else { return }
        let count = hearing.ableCount
        let isSample = count > ChannelHearing.maximumListenerCount
        let isFull = hearing.askedCount >= min(count, ChannelHearing.maximumListenerCount)
        let isDue = hearing.sampleDue.map { $0 <= now || !isSample } ?? isSample
        guard isDue || !isFull else { return }
        let members = sample(of: channel)
        channels[channel]?.hearing.ask(members, isSample: isSample, at: now)
    }

    /// Draws members of a channel at random; all of them if they are few.
    private mutating func sample(of channel: ChannelIndex) -> [MemberID] {
        var drawn: [MemberID] = []
        var count = 0
        var next = sessions.first(in: channel)
        while let member = next {
            next = sessions.next(behind: member)
            guard sessions[member].state == .joined, sessions[member].statesHearing else { continue }
            count += 1
            if drawn.count < ChannelHearing.maximumListenerCount {
                drawn.append(member)
            } else {
                let place = Int.random(in: 0..<count, using: &generator)
                if place < drawn.count { drawn[place] = member }
            }
        }
        return drawn
    }
}
