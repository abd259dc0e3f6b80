internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// What a talker is told of its stream: how it comes to the relay, and how its listeners fare. And what it is asked for.
extension Relay {
    private static let interval = Duration.seconds(1)
    private static let lossyInterval = Duration.milliseconds(500)
    private static let mostVoices = 3

    /// A member is gone, and so is what it said.
    mutating func forgetViews(of member: Int, in channel: Int) {
        for place in talking where talkers[place].map({ Int(sessions[$0.member].channel) }) == channel {
            talkers[place]?.stream?.views[Int32(member)] = nil
        }
    }

    /// Looks at what talkers have sent, and have not, where that is due.
    mutating func attendTalkers(at now: Instant) {
        if let attention, attention > now { return }
        for place in talking {
            guard let due = talkers[place]?.stream?.nextDeadline, due <= now else { continue }
            ask(place, at: now)
            if let report = talkers[place]?.stream?.nextReport, report <= now { reportToTalker(place, at: now) }
            if talkers[place]?.stream?.isOver(at: now) ?? false { endTalkspurt(place) }
        }
        attention = talking.compactMap { talkers[$0]?.stream?.nextDeadline }.min()
    }

    /// Asks a talker for what has not come, once.
    private mutating func ask(_ place: Int, at now: Instant) {
        guard let numbers = talkers[place]?.stream?.missing.nextRequests(at: now), !numbers.isEmpty,
            let ssrc = talkers[place]?.stream?.ssrc, let member = talkers[place]?.member
        else { return }
        let nack = GenericNACK(sender: reporters.line, media: ssrc, sequenceNumbers: numbers)
        let report = [UInt8](capacity: nack.byteCount) { nack.write(into: &$0) }
        outbox.put(report: report.span, for: member, of: &sessions)
        channels[Int(sessions[member].channel)]?.status.requestedCount += numbers.count
    }

    private mutating func reportToTalker(_ place: Int, at now: Instant) {
        guard let member = talkers[place]?.member, let ssrc = talkers[place]?.stream?.ssrc,
            let line = talkers[place]?.stream?.counts.reception.reportBlock(at: now)
        else {
            talkers[place]?.stream?.nextReport = now + Self.interval
            return
        }
        let verdict = ListenersVerdict(talkers[place]?.stream?.views ?? [:], at: now) {
            sessions[$0].endpoint.address.linePrefix
        }
        var reports = [ReceiverReport(ssrc: reporters.line, blocks: [line])]
        // Who talks itself learns how far those are whom it hears from reports of theirs about itself.
        let others = heard(by: member)
        for other in others { reports.append(ReceiverReport(ssrc: other.ssrc, blocks: [line])) }
        if let verdict {
            let missed = talkers[place]?.stream?.counts.listenersMiss(
                verdict.fractionLost, upTo: line.extendedHighestSequenceNumber)
            let block = ReportBlock(
                ssrc: ssrc, fractionLost: verdict.fractionLost, cumulativeLost: missed ?? 0,
                extendedHighestSequenceNumber: line.extendedHighestSequenceNumber, jitter: line.jitter,
                lastSenderReport: nil, delaySinceLastSenderReport: .zero)
            reports.append(ReceiverReport(ssrc: reporters.listeners, blocks: [block]))
        }
        send(reports, verdict, naming: others, to: member)
        let isLossy = line.fractionLost > 0 || verdict.map { $0.fractionLost > 0 } ?? false
        talkers[place]?.stream?.nextReport = now + (isLossy ? Self.lossyInterval : Self.interval)
    }

    /// The other talkers of its channel, a few of them, and what they are called.
    private func heard(by member: Int) -> [(ssrc: SSRC, name: String?)] {
        var heard: [(ssrc: SSRC, name: String?)] = []
        for place in talking where heard.count < Self.mostVoices {
            guard let other = talkers[place]?.member, let ssrc = talkers[place]?.stream?.ssrc, other != member,
                sessions[other].channel == sessions[member].channel
            else { continue }
            heard.append((ssrc, talkers[place]?.name))
        }
        return heard
    }

    /// With what the relay and the listeners together can do against loss.
    private mutating func send(
        _ reports: [ReceiverReport], _ verdict: ListenersVerdict?, naming others: [(ssrc: SSRC, name: String?)],
        to member: Int
    ) {
        let capabilities = Capabilities(
            supportsNACK: true, redPayloadType: verdict?.redPayloadType, depth: verdict?.depth,
            concealment: verdict?.concealment ?? .plain)
        let items = [SourceDescription.Item(.canonicalName, "relay"), capabilities.item].compactMap { $0 }
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
