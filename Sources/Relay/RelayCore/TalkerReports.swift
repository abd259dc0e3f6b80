internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// Sends reports to talkers: on reception at the relay, on reception at the listeners, and on missing packets.
extension Relay {
    private static let interval = Duration.seconds(1)
    private static let lossyInterval = Duration.milliseconds(500)
    private static let maximumOtherCount = 3
    /// The CNAME of all reports that the relay sends, including the reports that carry a talker's SSRC.
    static let canonicalName = "relay"

    /// Removes the reports that a member has sent on the streams of `channel`, because the member has left.
    mutating func forgetViews(of member: MemberID, in channel: ChannelIndex) {
        for index in talkers.talking where talkers[index].map({ sessions[$0.member].channel }) == channel {
            talkers[index]?.stream?.views[member] = nil
        }
        remotes.forgetViews(of: member)
    }

    /// Polls the streams that are due: requests their missing packets, sends reports, and ends streams that have been
    /// silent for 10 s.
    mutating func pollTalkers(at now: Instant) {
        if let deadline = talkers.deadline, deadline > now { return }
        for index in talkers.talking {
            guard let due = talkers[index]?.stream?.nextDeadline, due <= now else { continue }
            ask(index, at: now)
            if let report = talkers[index]?.stream?.nextReport, report <= now { reportToTalker(index, at: now) }
            if talkers[index]?.stream?.isOver(at: now) ?? false { endTalkspurt(index) }
        }
        talkers.updateDeadline()
    }

    /// Sends a talker a NACK for its missing packets. Each packet is requested once.
    private mutating func ask(_ index: TalkerIndex, at now: Instant) {
        guard let numbers = talkers[index]?.stream?.missing.nextRequests(at: now), !numbers.isEmpty,
            let ssrc = talkers[index]?.stream?.ssrc, let member = talkers[index]?.member
        else { return }
        let nack = GenericNACK(sender: reporters.line, media: ssrc, sequenceNumbers: numbers)
        let report = [UInt8](capacity: nack.byteCount) { nack.write(into: &$0) }
        outbox.put(report: report.span, for: member, of: &sessions)
        channels[sessions[member].channel]?.status.requestedCount += numbers.count
    }

    private mutating func reportToTalker(_ index: TalkerIndex, at now: Instant) {
        guard let member = talkers[index]?.member, let ssrc = talkers[index]?.stream?.ssrc,
            let line = talkers[index]?.stream?.counts.reception.reportBlock(at: now)
        else {
            talkers[index]?.stream?.nextReport = now + Self.interval
            return
        }
        let verdict = ListenersVerdict(
            talkers[index]?.stream?.views ?? [:], talkers[index]?.stream?.remoteViews ?? [:], at: now
        ) { sessions[$0].endpoint.address.linePrefix }
        var reports = [ReceiverReport(ssrc: reporters.line, blocks: [line])]
        // Repeats the report block in reports with the SSRCs of other talkers, so that the talker can compute
        // round-trip times to these SSRCs (RFC 3550 section 6.4.1).
        let others = heard(by: member, most: Self.maximumOtherCount)
        for other in others { reports.append(ReceiverReport(ssrc: other.ssrc, blocks: [line])) }
        if let verdict {
            let missed = talkers[index]?.stream?.counts.listenersMiss(
                verdict.fractionLost, upTo: line.extendedHighestSequenceNumber)
            let block = ReportBlock(
                ssrc: ssrc, fractionLost: verdict.fractionLost, cumulativeLost: missed ?? 0,
                extendedHighestSequenceNumber: line.extendedHighestSequenceNumber, jitter: line.jitter,
                lastSenderReport: nil, delaySinceLastSenderReport: .zero)
            reports.append(ReceiverReport(ssrc: reporters.listeners, blocks: [block]))
        }
        send(reports, verdict, naming: others, to: member)
        let isLossy = line.fractionLost > 0 || verdict.map { $0.fractionLost > 0 } ?? false
        talkers[index]?.stream?.nextReport = now + (isLossy ? Self.lossyInterval : Self.interval)
    }

    /// Returns the SSRCs and names of other talkers in the channel of a member, at most `most`, those of this relay
    /// first.
    func heard(by member: MemberID, most: Int) -> [(ssrc: SSRC, name: String?)] {
        var heard: [(ssrc: SSRC, name: String?)] = []
        for index in talkers.talking where heard.count < most {
            guard let other = talkers[index]?.member, let ssrc = talkers[index]?.stream?.ssrc, other != member,
                sessions[other].channel == sessions[member].channel
            else { continue }
            heard.append((ssrc, talkers[index]?.name))
        }
        return heard + remotes.talking(in: sessions[member].channel).prefix(most - heard.count)
    }

    /// Sends the reports as one compound packet, with a source description that contains the loss-protection
    /// capabilities of the relay and the listeners together.
    private mutating func send(
        _ reports: [ReceiverReport], _ verdict: ListenersVerdict?, naming others: [(ssrc: SSRC, name: String?)],
        to member: MemberID
    ) {
        let capabilities = Capabilities(
            supportsNACK: true, redPayloadType: verdict?.redPayloadType, depth: verdict?.depth,
            concealment: verdict?.concealment ?? .plain)
        let items = [SourceDescription.Item(.canonicalName, Self.canonicalName), capabilities.item].compactMap { $0 }
        let description = SourceDescription(
            chunks: reports.map { report in
                let name = others.first { $0.ssrc == report.ssrc }?.name
                return SourceDescription.Chunk(
                    ssrc: report.ssrc, items: items + (name.map { [SourceDescription.Item(.name, $0)] } ?? []))
            })
        let compound = [UInt8](capacity: Record.maximumReportByteCount) { compound in
            for report in reports { report.write(into: &compound) }
            description.write(into: &compound)
        }
        outbox.put(report: compound.span, for: member, of: &sessions)
    }
}
