internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

// MARK: Who transmits, and who hears us
extension RTPSession {
    /// Whether our reports state our status: not in a group, where brief reports would be too many, and not in a channel,
    /// whose relay ends the reports.
    var statesStatus: Bool {
        configuration.controlPort != .none && !configuration.isGroup && !isInChannel
    }

    private func situation(at now: Instant) -> StatusSchedule.Situation {
        let membership = membership
        return StatusSchedule.Situation(
            hasReaders: members.hasStated, lastArrival: members.lastArrival, missingSince: members.missingSince,
            silenceBegin: configuration.remotes.count == 1
                ? status.schedule.silenceBegin(after: status.lastDatagram) : nil,
            lastSent: sendStream.lastSent, isLossy: sender.isLossy(at: now), memberCount: membership.memberCount,
            fairInterval: schedule.fairInterval(of: membership))
    }

    func ownStatus(at now: Instant) -> StationStatus {
        status.status(of: members.sources, situation(at: now), next: sendStream.nextSequenceNumber, at: now)
    }

    func statusDeadline(at now: Instant) -> Instant? {
        if isInChannel { return channelStatusDeadline(at: now) }
        guard statesStatus else { return nil }
        return earlier(
            earlier(status.schedule.deadline(situation(at: now)), status.monitor.deadline),
            members.missingDeadline(at: now))
    }

    /// Whether the packets of a datagram are a brief report. It says nothing about loss that the reports around it do not
    /// say.
    func isBrief(_ packets: [RTCPPacket], in datagram: Span<UInt8>) -> Bool {
        for case .unknown(let other) in packets {
            if let packet = ApplicationPacket(other, in: datagram), packet.name == StationStatus.packetName {
                return StationStatus(packet.data)?.isBrief ?? false
            }
        }
        return false
    }

    /// Reads a status in a report. Returns whether `packet` is one.
    mutating func readStatus(
        _ packet: RTCPPacket, in datagram: Span<UInt8>, _ reading: ReceiverFeedback.Datagram
    ) -> Bool {
        guard case .unknown(let other) = packet, let packet = ApplicationPacket(other, in: datagram),
            packet.name == StationStatus.packetName
        else { return false }
        if let stated = StationStatus(packet.data) {
            members.stated(stated, by: packet.ssrc, at: reading.sender, isRemote: reading.isRemote, reading.arrival)
            status.read(stated, of: packet.ssrc, own: ssrc, next: sendStream.nextSequenceNumber)
        }
        return true
    }

    /// Records that media of a source arrives. After a pause the source reads at once that it is heard again.
    mutating func mediaArrives(at index: Int, from sender: Endpoint, _ now: Instant) {
        if isInChannel { return channelMediaArrives(at: index, now) }
        guard statesStatus, members[index].transmission.isStated else { return }
        if now - members[index].lastPacket >= SentTimes.pause {
            members[index].pauseEnded(at: now)
            status.schedule.expedite()
        }
        status.monitor.datagramArrived(from: members[index].ssrc, at: sender, now)
    }

    /// Evaluates the reports of a datagram that has been read.
    mutating func finishStatus(_ reading: ReceiverFeedback.Datagram, isFeedback: Bool) {
        status.finish(isFeedback: isFeedback, at: reading.sender, reading.arrival)
        updateStatus(at: reading.arrival)
    }

    /// Sends a brief report if one is due, and posts what has changed: who hears us, and whose audio is missing.
    mutating func updateStatus(at now: Instant) {
        if isInChannel { return updateChannelStatus(at: now) }
        guard statesStatus, !hasLeft else { return }
        for hearing in status.monitor.update(at: now) { events.post(.hearingChanged(hearing)) }
        updateMissing(at: now)
        guard let deadline = status.schedule.deadline(situation(at: now)), deadline <= now else { return }
        if status.schedule.hasReported { return sendBriefReport(at: now) }
        // The first report says our name.
        sendReport(at: now)
        armReports(at: now)
    }

    /// Determines whose audio is missing. A participant for whom this changes reads it at once.
    mutating func updateMissing(at now: Instant) {
        if members.updateMissing(&events, at: now) { status.schedule.expedite() }
    }

    private mutating func sendBriefReport(at now: Instant) {
        guard !configuration.remotes.isEmpty || !members.sources.isEmpty else {
            return self.status.schedule.reportSent(at: now)
        }
        var status = ownStatus(at: now)
        status.isBrief = true
        let compound = CompoundReport(brieflyFrom: identity, about: members, status: status, at: now)
        send(compound.bytes, at: now)
    }

    // MARK: The end

    /// Repeats the BYE, which may have been lost, while we await the last reports.
    mutating func repeatGoodbye(at now: Instant) {
        if departure?.timeElapsed(at: now) ?? false, awaitsLastReports { sendGoodbye(at: now) }
    }

    /// Sends a last report if a source has left, so that it knows the fate of all its packets.
    mutating func answerGoodbyes(at now: Instant) {
        guard statesStatus else { return }
        var departed: [Endpoint] = []
        for index in members.indices where members[index].owesLastReport(at: now) {
            departed.append(members[index].endpoint)
        }
        guard !departed.isEmpty, status.answers.spend(1, at: now) else { return }
        sendReport(at: now, answering: departed)
    }
}
