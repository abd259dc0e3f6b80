internal import TenfourAudioCore
internal import TenfourPackets

/// The initial reports of two endpoints that are alone with each other (Protocol/03-loss-protection.md). They carry
/// names, capabilities and the round trip; an endpoint that only listens sends its own clock and has it sent back.
extension RTPSession {
    /// Our first packet goes out: a report follows it.
    mutating func scheduleInitialReports(at now: Instant) {
        if !configuration.remotes.isEmpty { expediteReport(at: now) }
    }

    /// A packet of a source has come. Where nobody typed its address, a report waits until it has sent as much itself.
    mutating func scheduleInitialReport(_ index: Int, at now: Instant) {
        guard !sources[index].hasInitialReport else { return }
        guard isReceiver(sources[index].endpoint) || sources[index].mayReceive(Self.maximumInitialReportByteCount)
        else { return }
        sources[index].hasInitialReport = true
        expediteReport(at: now + Self.replyDelay)
    }

    /// A talker answers the first clock at once.
    mutating func readClocks(_ report: ExtendedReport, from sender: Endpoint, at now: Instant) {
        for block in report.blocks {
            switch block {
            case .echoes(let echoes):
                guard let index = index(of: report.sender, at: sender),
                    let echo = echoes.first(where: { $0.teller == ssrc && toldTimes.contains($0.time) })
                else { continue }
                sources[index].trace.roundTrip.reported(echo.roundTrip(receivedAt: wallClock(at: now)), at: now)
            case .referenceTime(let time):
                guard isReceiver(sender), receivers.tell(time.short, of: report.sender, at: sender.address, now),
                    schedule.isSender(lastPacket: sendStream.lastSent)
                else { continue }
                expediteReport(at: now)
            case .lossRLE, .voipMetrics: continue
            }
        }
    }

    /// Of one who only listens the question, of a talker the answers.
    mutating func clocks(at now: Instant) -> [ExtendedReport.Block] {
        guard !configuration.isGroup else { return [] }
        guard schedule.isSender(lastPacket: sendStream.lastSent) else {
            guard !sources.isEmpty else { return [] }
            let time = wallClock(at: now)
            toldTimes.append(time.short)
            if toldTimes.count > Self.toldTimeCount { toldTimes.removeFirst() }
            return [.referenceTime(time)]
        }
        let echoes = receivers.nextEchoes(limit: Self.maximumDetailedCount, at: now)
        return echoes.isEmpty ? [] : [.echoes(echoes)]
    }

    /// Their own first report, which follows their first packet, comes before ours.
    private static let replyDelay = Duration.milliseconds(5)
    /// In bytes: a report with a block, a name, what we can do and our clock.
    private static let maximumInitialReportByteCount = 240
    /// An echo of another time than the last few is none.
    private static let toldTimeCount = 4
}
