internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

/// Our status in our reports, and that of our partners in theirs: who transmits, and who hears us.
struct StatusExchange: Sendable {
    var monitor = HearingMonitor()
    var schedule: StatusSchedule
    /// The time of the last datagram that was not discarded; nil before the first from the present remote.
    var lastDatagram: Instant?
    /// Bounds the answers to BYE: an attacker that sends with the address of a partner can invent sources that leave.
    var answers = TokenBucket(perSecond: 10, most: 32)
    /// In a channel: what its relay has asked us about the talkers.
    var reporter = HearingReporter()
    /// Where the audio goes that we receive.
    private(set) var output = StationStatus.Output.playing
    /// The time for which a status lists a source after its last packet. Reports follow it for five seconds.
    private static let memory = Duration.seconds(6)
    /// The maximum of a round trip. A longer one is wrong.
    private static let longestRoundTrip = Duration.seconds(3)
    /// The report that is being read: the packets of one datagram that one participant has sent.
    private var reading: (ssrc: SSRC, report: HearingMonitor.Report)?

    init(at now: Instant) { schedule = StatusSchedule(at: now) }

    mutating func setOutput(_ output: StationStatus.Output) {
        guard output != self.output else { return }
        self.output = output
        schedule.expedite()
        reporter.expedite()
    }

    /// Records one of our packets. If it begins a transmission, the others read it at once.
    mutating func packetSent(at now: Instant) {
        if monitor.packetSent(at: now) { schedule.expedite() }
    }

    /// Returns our status for a report that is sent at `now`. `next` is the number of our next packet.
    func status(
        of sources: [Source], _ situation: StatusSchedule.Situation, next: SequenceNumber, at now: Instant
    ) -> StationStatus {
        var status = StationStatus()
        if monitor.sent.count > 0 { status.lastSent = next.advanced(by: -1) }
        status.isTransmitting = monitor.sent.isTransmitting(at: now)
        status.output = output
        status.nextReport = schedule.promise(situation, at: now)
        // A source that has left reads what has arrived, however long ago.
        let recent = sources.filter { now - $0.lastPacket < Self.memory || $0.goodbye != nil }
        status.playouts = recent.sorted { $0.lastPacket > $1.lastPacket }.prefix(StationStatus.maximumPlayoutCount).map
        {
            StationStatus.Playout(
                source: $0.ssrc, missingShare: $0.missingShare(at: now),
                highestSequenceNumber: $0.reception.highestSequenceNumber)
        }
        return status
    }

    /// Returns the statement that the relay of our channel is to have at `now`; nil if there is none.
    mutating func nextHearingReport(on sources: [Source], at now: Instant) -> HearingReport? {
        reporter.nextReport(output, on: sources, at: now)
    }

    // MARK: Reports of others

    /// Begins to read the report of a participant, of which `blocks` is the part about sources. `ssrc` is ours, and `next`
    /// the number of our next packet. `wallClock` is our clock at the arrival of the report,
    /// which comes from a configured endpoint if it `isConfigured`.
    mutating func read(
        _ blocks: [ReportBlock], from reporter: SSRC, about ssrc: SSRC, next: SequenceNumber, wallClock: NTPTime,
        isConfigured: Bool, at sender: Endpoint, _ now: Instant
    ) {
        finish(at: sender, now)
        var report = HearingMonitor.Report()
        report.isFromConfigured = isConfigured
        if let block = blocks.first(where: { $0.ssrc == ssrc }) {
            let highest = SequenceNumber(rawValue: UInt16(truncatingIfNeeded: block.extendedHighestSequenceNumber))
            report.setHighest(highest, next: next)
            report.roundTrip = block.roundTrip(receivedAt: wallClock).flatMap { $0 <= Self.longestRoundTrip ? $0 : nil }
            report.lossShare = Double(block.fractionLost) / 256
        }
        reading = (reporter, report)
    }

    /// Adds the status in the report that is being read. `own` is our SSRC, and `next` the number of our next packet.
    mutating func read(_ status: StationStatus, of reporter: SSRC, own ssrc: SSRC, next: SequenceNumber) {
        guard reporter == reading?.ssrc else { return }
        reading?.report.status = status
        guard let playout = status.playouts.first(where: { $0.source == ssrc }) else { return }
        reading?.report.missingShare = playout.missingShare
        reading?.report.setHighest(playout.highestSequenceNumber, next: next)
    }

    /// Adds what the extended report of the same participant says.
    mutating func add(_ view: ReceiverView, of receiver: SSRC) {
        guard let (reporter, report) = reading, reporter == receiver else { return }
        if report.status == nil { reading?.report.missingShare = min(view.lossShare + (view.discardShare ?? 0), 1) }
    }

    /// Passes the report to the monitor. If the datagram `isFeedback`, such as a NACK, an empty report stands in front of it
    /// only because RTCP asks for one, and says nothing.
    mutating func finish(isFeedback: Bool = false, at sender: Endpoint, _ now: Instant) {
        guard let (ssrc, report) = reading else { return }
        reading = nil
        if isFeedback, report.status == nil, report.sentAfterHighest == nil {
            monitor.datagramArrived(from: ssrc, at: sender, now)
        } else {
            monitor.reportArrived(report, from: ssrc, at: sender, now)
        }
    }

    /// Removes a participant that has sent BYE, with its last report.
    mutating func remove(_ ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        if reading?.ssrc == ssrc { finish(at: sender, now) }
        monitor.goodbyeArrived(from: ssrc, at: sender, now)
    }
}
