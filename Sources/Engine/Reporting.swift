internal import RTP
internal import Sound

/// What we tell others: how their sound arrives, who we are, and that we leave.
extension Station {
    func wallClock(at now: Instant) -> NTPTime { identity.wallClock.advanced(by: now - .start) }

    mutating func armReports(at now: Instant) {
        guard configuration.controlPort != .none else { return }
        schedule.arm(session(at: now), at: now, chance: identity.draw())
    }

    mutating func reportWhenDue(at now: Instant) {
        guard let deadline = schedule.deadline, deadline <= now else { return }
        listeners.removeSilent(since: now - memberTimeout)
        guard schedule.isDue(session(at: now), at: now, chance: identity.draw()) else { return }
        report(at: now)
        armReports(at: now)
    }

    /// One who has never said anything, and one in a crowd, leaves without a word (RFC 3550 section 6.3.7).
    mutating func sayGoodbye(at now: Instant) {
        guard transmission.hasSpoken, session(at: now).memberCount < Self.crowd else { return }
        report(at: now, goodbye: Goodbye(sources: [ssrc]))
    }

    func session(at now: Instant) -> ReportSchedule.Session {
        let isSender = schedule.isSender(lastPacket: transmission.lastSent)
        let othersCount = sources.lazy.filter { $0.goodbye == nil }.count
        return ReportSchedule.Session(
            memberCount: 1 + max(othersCount + listeners.count, configuration.remotes.count),
            senderCount: othersCount + (isSender ? 1 : 0), isSender: isSender)
    }

    /// From so many on, all who leave at once would flood the rest.
    private static let crowd = 50

    /// To the addresses a person typed, and to plain RTP's sources, which get nothing but reports, and those within the
    /// bytes that came from them.
    private mutating func report(at now: Instant, goodbye: Goodbye? = nil) {
        guard configuration.controlPort != .none, !configuration.remotes.isEmpty || !sources.isEmpty else { return }
        let compound = compound(at: now, goodbye: goodbye)
        schedule.observe(byteCount: compound.count)
        transmission.hasSpoken = true
        var receivers = configuration.remotes
        for index in sources.indices where !receivers.contains(sources[index].endpoint) {
            if sources[index].spend(compound.count) { receivers.append(sources[index].endpoint) }
        }
        for receiver in receivers {
            guard let endpoint = controlEndpoint(of: receiver) else { continue }
            outbox.putControl(compound, to: endpoint)
        }
    }

    private func controlEndpoint(of media: Endpoint) -> Endpoint? {
        guard configuration.controlPort == .next else { return media }
        return media.port == .max ? nil : Endpoint(media.address, port: media.port + 1)
    }

    private mutating func compound(at now: Instant, goodbye: Goodbye?) -> [UInt8] {
        let blocks = nextBlocks(at: now)
        let description = SourceDescription(
            ssrc: ssrc, canonicalName: identity.canonicalName, name: configuration.name, tool: "tenfour")
        return [UInt8](capacity: Self.maximumDatagramByteCount) { datagram in
            if schedule.isSender(lastPacket: transmission.lastSent) {
                transmission.report(from: ssrc, at: now, wallClock: wallClock(at: now), blocks).write(into: &datagram)
            } else {
                ReceiverReport(ssrc: ssrc, blocks: blocks).write(into: &datagram)
            }
            description.write(into: &datagram)
            goodbye?.write(into: &datagram)
        }
    }

    /// One for each source that sent something, as many as fit: the next report goes on where this one ends.
    private mutating func nextBlocks(at now: Instant) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        let first = reportTurn
        for step in sources.indices where blocks.count < ReportBlock.maximumCount {
            let index = (first + step) % sources.count
            if let block = sources[index].reception.reportBlock(at: now) { blocks.append(block) }
            reportTurn = (index + 1) % sources.count
        }
        return blocks
    }
}
