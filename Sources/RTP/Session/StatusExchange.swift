internal import TenfourAudioCore
internal import TenfourPackets

/// Our status in our reports, and that of our partners in theirs: who transmits, and who hears us.
struct StatusExchange: Sendable {
    var monitor = HearingMonitor()
    var schedule = StatusSchedule()
    /// Where the audio goes that we receive.
    private(set) var output = StationStatus.Output.playing
    /// The maximum of a round trip. A longer one is wrong.
    private static let longestRoundTrip = Duration.seconds(3)
    /// The report that is being read: the packets of one datagram that one participant has sent.
    private var reading: (ssrc: SSRC, report: HearingMonitor.Report)?

    mutating func setOutput(_ output: StationStatus.Output) {
        guard output != self.output else { return }
        self.output = output
        schedule.expedite()
    }

    /// Records one of our packets. If it begins a transmission, the others read it at once.
    mutating func packetSent(at now: Instant) {
        if monitor.packetSent(at: now) { schedule.expedite() }
    }

    /// Our status for a report that is sent at `now`.
    func status(of sources: [Source], _ situation: StatusSchedule.Situation, at now: Instant) -> StationStatus {
        var status = StationStatus()
        status.isTransmitting = monitor.sent.isTransmitting(at: now)
        status.output = output
        status.nextReport = schedule.promise(situation, at: now)
        let recent = sources.filter { now - $0.lastPacket < Participant.pause }
        status.playouts = recent.sorted { $0.lastPacket > $1.lastPacket }.prefix(StationStatus.maximumPlayoutCount).map
        {
            StationStatus.Playout(source: $0.ssrc, missingShare: $0.missingShare(at: now))
        }
        return status
    }

    // MARK: Reports of others

    /// Begins to read the report of a participant, of which `blocks` is the part about sources. `ssrc` is ours, and `next`
    /// the number of our next packet. `wallClock` is our clock at the arrival of the report.
    mutating func read(
        _ blocks: [ReportBlock], from reporter: SSRC, about ssrc: SSRC, next: SequenceNumber, wallClock: NTPTime,
        at sender: Endpoint, _ now: Instant
    ) {
        finish(at: sender, now)
        var report = HearingMonitor.Report()
        if let block = blocks.first(where: { $0.ssrc == ssrc }) {
            let highest = SequenceNumber(rawValue: UInt16(truncatingIfNeeded: block.extendedHighestSequenceNumber))
            let behind = next.distance(after: highest) - 1
            if behind >= 0 { report.sentAfterHighest = behind }
            report.roundTrip = block.roundTrip(receivedAt: wallClock).flatMap { $0 <= Self.longestRoundTrip ? $0 : nil }
            report.lossShare = Double(block.fractionLost) / 256
        }
        reading = (reporter, report)
    }

    /// Adds the status in the report that is being read. `own` is our SSRC.
    mutating func read(_ status: StationStatus, of reporter: SSRC, own ssrc: SSRC) {
        guard reporter == reading?.ssrc else { return }
        reading?.report.status = status
        reading?.report.missingShare = status.playouts.first { $0.source == ssrc }?.missingShare
    }

    /// Adds what the extended report of the same participant says.
    mutating func add(_ view: ReceiverView) {
        guard let report = reading?.report else { return }
        if report.status == nil { reading?.report.missingShare = min(view.lossShare + (view.discardShare ?? 0), 1) }
    }

    /// Passes the report to the monitor.
    mutating func finish(at sender: Endpoint, _ now: Instant) {
        guard let reading else { return }
        self.reading = nil
        monitor.reportArrived(reading.report, from: reading.ssrc, at: sender, now)
    }
}
