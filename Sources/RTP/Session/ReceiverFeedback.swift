internal import TenfourAudioCore
internal import TenfourPackets

/// Keeps the reports of receivers about our stream, and measures round trips with reference times and their echoes.
struct ReceiverFeedback: Sendable {
    /// The receivers at the addresses of our configured remotes.
    private(set) var receivers = Receivers()
    private var referenceTimes = SentReferenceTimes()

    /// The state of one RTCP datagram while it is read.
    struct Datagram {
        /// Our SSRC.
        let ssrc: SSRC
        let sender: Endpoint
        /// Whether the sender has the address of a configured remote. Only such senders influence our stream.
        let isRemote: Bool
        /// The clock rate of our encoding: receivers report jitter in its ticks.
        let clockRate: SampleRate
        let wallClock: NTPTime
        let arrival: Instant
        /// Whether the datagram is a brief report, whose blocks begin no new interval and are not used for loss protection.
        let isBrief: Bool
        /// Whether the datagram contains a report on our stream by a receiver at a configured remote.
        fileprivate(set) var hasFreshReport = false
        /// Whether the datagram contains new capabilities of a receiver at a configured remote.
        fileprivate(set) var hasNewCapabilities = false
        /// The receiver's view of our stream, as far as the datagram has been read.
        fileprivate var view: (receiver: SSRC, view: ReceiverView)?

        init(
            to ssrc: SSRC, from sender: Endpoint, isRemote: Bool, clockRate: SampleRate, wallClock: NTPTime,
            isBrief: Bool, at arrival: Instant
        ) {
            self.ssrc = ssrc
            self.sender = sender
            self.isRemote = isRemote
            self.clockRate = clockRate
            self.wallClock = wallClock
            self.arrival = arrival
            self.isBrief = isBrief
        }
    }

    /// Reads the report blocks of one sender or receiver report. If the datagram contains an earlier report, returns
    /// the view from that report, which is now complete.
    mutating func read(
        _ blocks: [ReportBlock], from reporter: SSRC, _ datagram: inout Datagram, _ members: inout ParticipantTable
    ) -> (receiver: SSRC, view: ReceiverView)? {
        let ssrc = datagram.ssrc
        guard !datagram.isBrief, reporter != ssrc, let block = blocks.first(where: { $0.ssrc == ssrc }) else {
            return nil
        }
        let now = datagram.arrival
        let view = ReceiverView(
            lossShare: Double(block.fractionLost) / 256, lostCount: block.cumulativeLost,
            jitter: block.jitter.duration(at: datagram.clockRate),
            roundTrip: block.roundTrip(receivedAt: datagram.wallClock))
        if let roundTrip = view.roundTrip, let index = members.index(of: reporter, at: datagram.sender) {
            members[index].trace.roundTrip.reported(roundTrip, at: now)
        }
        if datagram.isRemote {
            datagram.hasFreshReport = true
            receivers.update(reporter, at: datagram.sender.address, now) { receiver in
                receiver.reported(at: now)
                receiver.lossShare = view.lossShare
                if let roundTrip = view.roundTrip { receiver.roundTrip.reported(roundTrip, at: now) }
            }
        }
        defer { datagram.view = (reporter, view) }
        return completeView(&datagram, members)
    }

    /// Reads an extended report. Its DLRR blocks measure the round trip (RFC 3611 section 4.5). Returns true if it
    /// contains the first reference time (section 4.4) of a receiver, which must be answered immediately.
    mutating func read(
        _ report: ExtendedReport, _ datagram: inout Datagram, _ members: inout ParticipantTable
    ) -> Bool {
        guard report.sender != datagram.ssrc else { return false }
        let needsAnswer = readClocks(report, datagram, &members)
        guard datagram.isRemote else { return needsAnswer }
        for case .voipMetrics(let metrics) in report.blocks where metrics.source == datagram.ssrc {
            guard datagram.view?.receiver == report.sender else { continue }
            datagram.view?.view.discardShare = Double(metrics.discardRate) / 256
        }
        for case .lossRLE(let loss) in report.blocks where loss.source == datagram.ssrc && loss.thinning == 0 {
            datagram.hasFreshReport = true
            let summary = loss.summary
            let now = datagram.arrival
            receivers.update(report.sender, at: datagram.sender.address, now) { $0.update(summary, at: now) }
            guard datagram.view?.receiver == report.sender else { continue }
            datagram.view?.view.networkLossShare = summary.share
            datagram.view?.view.burstLength = summary.meanBurstLength
        }
        return needsAnswer
    }

    private mutating func readClocks(
        _ report: ExtendedReport, _ datagram: Datagram, _ members: inout ParticipantTable
    ) -> Bool {
        var isFirst = false
        for block in report.blocks {
            switch block {
            case .echoes(let echoes):
                guard let index = members.index(of: report.sender, at: datagram.sender),
                    let echo = echoes.first(where: {
                        $0.teller == datagram.ssrc && referenceTimes.contains($0.time)
                    })
                else { continue }
                let roundTrip = echo.roundTrip(receivedAt: datagram.wallClock)
                members[index].trace.roundTrip.reported(roundTrip, at: datagram.arrival)
            case .referenceTime(let time):
                guard datagram.isRemote else { continue }
                let address = datagram.sender.address
                if receivers.referenceTimeArrived(time.short, of: report.sender, at: address, datagram.arrival) {
                    isFirst = true
                }
            case .lossRLE, .voipMetrics: continue
            }
        }
        return isFirst
    }

    /// Reads the capabilities in a source description. If it states none, the receiver's earlier capabilities stay
    /// valid.
    mutating func readCapabilities(
        _ chunk: SourceDescription.Chunk, _ datagram: inout Datagram, _ members: inout ParticipantTable
    ) {
        guard let capabilities = Capabilities(chunk), chunk.ssrc != datagram.ssrc else { return }
        if let index = members.index(of: chunk.ssrc, at: datagram.sender) { members[index].capabilities = capabilities }
        guard datagram.isRemote else { return }
        var isNew = false
        receivers.update(chunk.ssrc, at: datagram.sender.address, datagram.arrival) { receiver in
            isNew = receiver.capabilities != capabilities
            receiver.capabilities = capabilities
        }
        if isNew { datagram.hasNewCapabilities = true }
    }

    /// Removes a receiver that has sent BYE.
    mutating func remove(_ ssrc: SSRC, at sender: Endpoint) { receivers.remove(ssrc, at: sender.address) }

    /// Adds the receiver's method of concealment to its view of our stream, and returns and clears that view; nil if
    /// none arrived.
    mutating func completeView(
        _ datagram: inout Datagram, _ members: ParticipantTable
    ) -> (receiver: SSRC, view: ReceiverView)? {
        guard var read = datagram.view else { return nil }
        datagram.view = nil
        let capabilities =
            receivers.all.first { $0.ssrc == read.receiver }?.capabilities
            ?? members.index(of: read.receiver).flatMap { members[$0].capabilities }
        read.view.concealment = capabilities?.concealment ?? .plain
        return read
    }

    /// Returns the extended report blocks about clocks for our next report. If we only listen, this is a reference
    /// time; if we send, echoes of the receivers' reference times.
    mutating func clocks(isSender: Bool, hasSources: Bool, wallClock: NTPTime, at now: Instant) -> [ExtendedReport
        .Block]
    {
        guard isSender else {
            guard hasSources else { return [] }
            referenceTimes.insert(wallClock.short)
            return [.referenceTime(wallClock)]
        }
        let echoes = receivers.nextEchoes(limit: Self.maximumEchoCount, at: now)
        return echoes.isEmpty ? [] : [.echoes(echoes)]
    }

    private static let maximumEchoCount = 4
}
