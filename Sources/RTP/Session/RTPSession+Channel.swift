public import TenfourAudioCore
internal import TenfourPackets

// MARK: Who hears us in a channel
extension RTPSession {
    /// Whether the session is that of a member of a channel, whose relay ends the reports and asks who hears whom.
    var isInChannel: Bool { configuration.remotes.contains(where: \.address.isUnspecified) }

    /// The number of all members of our channel except ourselves, of which `hearings` contains those that the relay has
    /// asked; nil outside a channel, and while the relay asks nobody.
    public var memberCount: Int? { status.monitor.memberCount }

    /// Reads the relay's request to state how we receive the talkers of the channel.
    public mutating func hearingRequested(_ request: HearingRequest, at now: Instant) {
        guard isInChannel else { return }
        status.reporter.requestArrived(request, own: ssrc, at: now)
        members.relayStated(request.talkers.filter { $0 != ssrc }, &events, at: now)
        updateChannelStatus(at: now)
    }

    /// Reads what other members have told the relay about our stream.
    public mutating func hearingListArrived(_ list: HearingList, at now: Instant) {
        guard isInChannel, list.talker == ssrc, let relay = configuration.remotes.first else { return }
        status.monitor.listArrived(list, next: sendStream.nextSequenceNumber, at: relay, now)
        updateChannelStatus(at: now)
    }

    /// We have joined a channel anew: nothing is known of its members.
    public mutating func channelJoined(at now: Instant) {
        status.monitor.removeMembers()
        status.reporter = HearingReporter()
        members.relayStated([], &events, at: now)
        updateChannelStatus(at: now)
    }

    /// The statement that we owe the relay at `now`; nil if there is none. Call it after each input.
    public mutating func nextHearingReport(at now: Instant) -> HearingReport? {
        guard isInChannel, !hasLeft, let report = status.nextHearingReport(on: members.sources, at: now) else {
            return nil
        }
        refreshStatusDeadline(at: now)
        return report
    }

    func channelStatusDeadline(at now: Instant) -> Instant? {
        earlier(
            earlier(status.reporter.deadline(at: now), status.monitor.deadline), members.missingDeadline(at: now))
    }

    /// Posts which members hear us, which do no more, and whose audio is missing.
    mutating func updateChannelStatus(at now: Instant) {
        guard !hasLeft else { return }
        for hearing in status.monitor.update(at: now) { events.post(.hearingChanged(hearing)) }
        updateMissing(at: now)
        refreshStatusDeadline(at: now)
    }

    /// Records that media of a source arrives in a channel. After a pause its missing audio is counted anew.
    mutating func channelMediaArrives(at index: Int, _ now: Instant) {
        if now - members[index].lastPacket >= SentTimes.pause { members[index].pauseEnded(at: now) }
        status.reporter.packetArrived(of: members[index].ssrc, at: now)
    }
}
