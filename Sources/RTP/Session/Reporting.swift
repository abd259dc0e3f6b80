internal import TenfourAudioCore
internal import TenfourPackets

/// What we tell others: how their sound arrives, who we are, and that we leave.
extension RTPSession {
    func wallClock(at now: Instant) -> NTPTime { identity.wallClock.advanced(by: now - .start) }

    mutating func armReports(at now: Instant) {
        guard configuration.controlPort != .none else { return }
        schedule.arm(membership(at: now), at: now, random: identity.draw())
    }

    mutating func reportWhenDue(at now: Instant) {
        guard let deadline = schedule.deadline, deadline <= now else { return }
        listeners.removeSilent(since: now - memberTimeout)
        guard schedule.isDue(membership(at: now), at: now, random: identity.draw()) else { return }
        report(at: now)
        armReports(at: now)
        expediteReportsOnLoss(at: now)
    }

    /// While packets are lost, ours or those of another, reports come twice a second between two, more seldom among more.
    mutating func expediteReportsOnLoss(at now: Instant) {
        var isLossy = lastReportedLoss.map { now - $0 < ArrivalTrace.memoryOfLoss } ?? false
        for index in sources.indices where !isLossy { isLossy = sources[index].trace.isLossy(at: now) }
        if isLossy { expediteReport(at: now) }
    }

    /// In a group, the rules for all hold.
    mutating func expediteReport(at moment: Instant) {
        guard !configuration.isGroup else { return }
        schedule.expedite(membership(at: moment), at: moment)
    }

    /// One who has never said anything, and one in a crowd, leaves without a word (RFC 3550 section 6.3.7).
    mutating func sendGoodbye(at now: Instant) {
        guard sendStream.hasSpoken, membership(at: now).memberCount < Self.crowd else { return }
        report(at: now, goodbye: Goodbye(sources: [ssrc]))
    }

    func membership(at now: Instant) -> ReportSchedule.Membership {
        let isSender = schedule.isSender(lastPacket: sendStream.lastSent)
        let othersCount = sources.lazy.filter { $0.goodbye == nil }.count
        return ReportSchedule.Membership(
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
        sendStream.hasSpoken = true
        var receivers = configuration.remotes
        for index in sources.indices where !receivers.contains(sources[index].endpoint) {
            if sources[index].spend(compound.count) { receivers.append(sources[index].endpoint) }
        }
        for receiver in receivers {
            guard let endpoint = controlEndpoint(of: receiver) else { continue }
            outbox.putControl(compound, to: endpoint)
        }
    }

    func controlEndpoint(of media: Endpoint) -> Endpoint? {
        guard configuration.controlPort == .next else { return media }
        return media.port == .max ? nil : Endpoint(media.address, port: media.port + 1)
    }

    private mutating func compound(at now: Instant, goodbye: Goodbye?) -> [UInt8] {
        let blocks = nextBlocks(at: now)
        let description = SourceDescription(
            ssrc: ssrc, canonicalName: identity.canonicalName, name: configuration.name, tool: "tenfour",
            extensions: [configuration.lossProtection.capabilities.item].compactMap { $0 })
        let details = details(on: blocks, at: now)
        return [UInt8](capacity: Self.maximumDatagramByteCount) { datagram in
            if schedule.isSender(lastPacket: sendStream.lastSent) {
                sendStream.report(from: ssrc, at: now, wallClock: wallClock(at: now), blocks).write(into: &datagram)
            } else {
                ReceiverReport(ssrc: ssrc, blocks: blocks).write(into: &datagram)
            }
            description.write(into: &datagram)
            details?.write(into: &datagram)
            goodbye?.write(into: &datagram)
        }
    }

    /// Clocks; and while packets are lost, and a while longer so that it is known when they are not any more, which they
    /// were, and how the stream sounds (RFC 3611). Where there is a crowd there is no room for it.
    private mutating func details(on blocks: [ReportBlock], at now: Instant) -> ExtendedReport? {
        guard blocks.count <= Self.maximumDetailedCount else { return nil }
        var details: [ExtendedReport.Block] = clocks(at: now)
        for source in sources where blocks.contains(where: { $0.ssrc == source.ssrc }) {
            let isLossy = source.trace.isLossy(at: now, within: Self.memoryOfDetails)
            let missingShare = source.played.missingShare(at: now)
            guard isLossy || missingShare > 0 else { continue }
            if isLossy { details.append(.lossRLE(source.trace.lossReport(on: source.ssrc))) }
            var metrics = source.metrics(maximumDepth: configuration.lossProtection.maximumDepth)
            metrics.discardRate = UInt8(clamping: Int((missingShare * 256).rounded(.up)))
            details.append(.voipMetrics(metrics))
        }
        return details.isEmpty ? nil : ExtendedReport(sender: ssrc, blocks: details)
    }

    static let maximumDetailedCount = 4
    private static let memoryOfDetails = Duration.seconds(15)

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

extension Source {
    /// How its stream arrives and is played, over the last seconds.
    fileprivate func metrics(maximumDepth: Duration) -> VoIPMetrics {
        var metrics = VoIPMetrics(source: ssrc)
        let loss = recentLoss
        let bursts = trace.recentBursts
        let gapPackets = bursts.packetCount - bursts.burstPacketCount
        metrics.lossRate = share(loss.lossCount, of: loss.packetCount)
        metrics.burstDensity = share(bursts.burstLossCount, of: bursts.burstPacketCount)
        metrics.gapDensity = share(bursts.lossCount - bursts.burstLossCount, of: gapPackets)
        metrics.burstDuration = trace.frame * bursts.burstPacketCount / max(bursts.burstCount, 1)
        metrics.gapDuration = trace.frame * gapPackets / (bursts.burstCount + 1)
        metrics.roundTrip = roundTrip ?? .zero
        metrics.nominalDepth = trace.playoutDelay ?? .zero
        metrics.endSystemDelay = trace.frame + metrics.nominalDepth
        metrics.maximumDepth = max(maximumDepth, metrics.nominalDepth)
        return metrics
    }

    /// In 1/256.
    private func share(_ part: Int, of whole: Int) -> UInt8 { whole > 0 ? UInt8(clamping: part * 256 / whole) : 0 }
}
