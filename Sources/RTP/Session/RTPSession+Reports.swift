internal import TenfourAudioCore
internal import TenfourPackets

// MARK: Our reports
extension RTPSession {
    var isSender: Bool { schedule.isSender(lastPacket: sendStream.lastSent) }
    var membership: ReportSchedule.Membership { members.membership(configuration, isSender: isSender) }

    mutating func armReports(at now: Instant) {
        guard configuration.controlPort != .none else { return }
        schedule.arm(membership, at: now, random: identity.draw())
    }

    mutating func reportWhenDue(at now: Instant) {
        guard let deadline = schedule.deadline, deadline <= now else { return }
        members.removeSilentListeners(schedule, at: now)
        guard schedule.isDue(membership, at: now, random: identity.draw()) else { return }
        sendReport(at: now)
        armReports(at: now)
        expediteReportsOnLoss(at: now)
    }

    /// Schedules a report that answers the first packet of a source (Protocol/03-loss-protection.md). A source that is
    /// not a configured remote must first have sent at least as many bytes as the longest initial report has.
    mutating func scheduleInitialReport(to index: Int, at now: Instant) {
        guard !members[index].hasInitialReport else { return }
        guard
            configuration.isRemote(members[index].endpoint)
                || members[index].mayReceive(ReportSchedule.maximumInitialReportByteCount)
        else { return }
        members[index].hasInitialReport = true
        expediteReport(at: now + ReportSchedule.replyDelay)
    }

    /// Moves the next report forward while packets of ours or of a source are lost. Two participants then report twice
    /// a second, more participants less often.
    mutating func expediteReportsOnLoss(at now: Instant) {
        if sender.isLossy(at: now) || members.sources.contains(where: { $0.trace.isLossy(at: now) }) {
            expediteReport(at: now)
        }
    }

    /// Moves the next report forward to `moment`, except in a group, where the regular interval holds.
    mutating func expediteReport(at moment: Instant) {
        guard !configuration.isGroup else { return }
        schedule.expedite(membership, at: moment)
    }

    /// Sends BYE, unless we have sent nothing or the session has `crowd` members or more. Returns whether it was sent.
    @discardableResult
    mutating func sendGoodbye(at now: Instant) -> Bool {
        guard sendStream.hasSpoken, membership.memberCount < ReportSchedule.crowd else { return false }
        sendReport(at: now, goodbye: Goodbye(sources: [ssrc]))
        return true
    }

    /// Sends a report to the remotes and the other sources. A source that is no remote gets no more bytes than it sent. To
    /// the endpoints `departed` it says that it answers their BYE.
    mutating func sendReport(at now: Instant, goodbye: Goodbye? = nil, answering departed: [Endpoint] = []) {
        guard configuration.controlPort != .none, !configuration.remotes.isEmpty || !members.sources.isEmpty else {
            return
        }
        let status = statesStatus ? ownStatus(at: now) : nil
        var compound = CompoundReport(
            from: identity, configuration, sendStream, isSender: isSender, about: &members, &feedback,
            status: status, goodbye: goodbye, at: now)
        let bytes = compound.bytes
        schedule.observe(byteCount: bytes.count)
        let destinations = beginReport(byteCount: bytes.count, at: now)
        // A source that sends from another port than it receives on is the remote at its address.
        let answered =
            departed.isEmpty
            ? []
            : destinations.filter { destination in
                departed.contains {
                    $0 == destination || !destinations.contains($0) && $0.address == destination.address
                }
            }
        putControl(bytes, to: destinations.filter { !answered.contains($0) })
        guard var status, !answered.isEmpty else { return }
        status.answersGoodbye = true
        compound.set(status)
        putControl(compound.bytes, to: answered)
    }

    mutating func send(_ compound: [UInt8], at now: Instant) {
        putControl(compound, to: beginReport(byteCount: compound.count, at: now))
    }

    /// Records that a report of `byteCount` bytes is sent. Returns its destinations.
    private mutating func beginReport(byteCount: Int, at now: Instant) -> [Endpoint] {
        sender.controlSent()
        status.schedule.reportSent(at: now)
        return configuration.remotes + members.spend(byteCount, besides: configuration.remotes)
    }

    mutating func putControl(_ datagram: [UInt8], to destinations: [Endpoint]) {
        for endpoint in destinations.compactMap(configuration.controlEndpoint) {
            outbox.putControl(datagram, to: endpoint)
        }
    }
}
