internal import TenfourAudioCore
internal import TenfourPackets

/// One of our compound RTCP packets (RFC 3550 section 6.1).
struct CompoundReport {
    var report: Report
    var description: SourceDescription
    var details: ExtendedReport?
    var goodbye: Goodbye?
    /// The station's status; nil in a group, and in a channel, where a relay terminates RTCP.
    var status: ApplicationPacket?

    enum Report {
        case sender(SenderReport)
        case receiver(ReceiverReport)
    }

    /// The maximum number of report blocks in a report with extended blocks (RFC 3611). If there are more, the extended
    /// blocks are left out.
    private static let maximumDetailedCount = 4

    /// Reports on `members`, continuing after the last source of the previous report, and on clocks and losses (RFC
    /// 3611).
    init(
        from identity: Identity, _ configuration: RTPSessionConfiguration, _ stream: SendStream, isSender: Bool,
        about members: inout ParticipantTable, _ feedback: inout ReceiverFeedback, status: StationStatus?,
        goodbye: Goodbye?, at now: Instant
    ) {
        let ssrc = identity.ssrc
        let wallClock = identity.wallClock(at: now)
        let blocks = members.nextReportBlocks(at: now)
        report =
            isSender
            ? .sender(stream.report(from: ssrc, at: now, wallClock: wallClock, blocks))
            : .receiver(ReceiverReport(ssrc: ssrc, blocks: blocks))
        description = SourceDescription(
            ssrc: ssrc, canonicalName: identity.canonicalName, name: configuration.name, tool: "tenfour",
            extensions: [configuration.lossProtection.capabilities.item].compactMap { $0 })
        self.goodbye = goodbye
        if let status { set(status, of: ssrc) }
        guard blocks.count <= Self.maximumDetailedCount else { return }
        var details: [ExtendedReport.Block] = []
        if !configuration.isGroup {
            details = feedback.clocks(
                isSender: isSender, hasSources: !members.sources.isEmpty, wallClock: wallClock, at: now)
        }
        details += members.details(
            on: blocks, maximumDelay: configuration.lossProtection.maximumDelay, at: now)
        if !details.isEmpty { self.details = ExtendedReport(sender: ssrc, blocks: details) }
    }

    /// A brief report: report blocks, the CNAME and the status.
    init(
        brieflyFrom identity: Identity, about members: ParticipantTable, status: StationStatus, at now: Instant
    ) {
        let ssrc = identity.ssrc
        report = .receiver(ReceiverReport(ssrc: ssrc, blocks: members.briefReportBlocks(at: now)))
        description = SourceDescription(ssrc: ssrc, canonicalName: identity.canonicalName)
        set(status, of: ssrc)
    }

    /// Sets the status to another one of the same length.
    mutating func set(_ status: StationStatus) { if let ssrc = self.status?.ssrc { set(status, of: ssrc) } }

    private mutating func set(_ status: StationStatus, of ssrc: SSRC) {
        self.status = ApplicationPacket(ssrc: ssrc, name: StationStatus.packetName, data: status.data)
    }

    var bytes: [UInt8] {
        [UInt8](capacity: RTPSession.maximumDatagramByteCount) { datagram in
            switch report {
            case .sender(let report): report.write(into: &datagram)
            case .receiver(let report): report.write(into: &datagram)
            }
            description.write(into: &datagram)
            details?.write(into: &datagram)
            status?.write(into: &datagram)
            goodbye?.write(into: &datagram)
        }
    }
}

extension GenericNACK {
    /// Returns a datagram that contains the NACK after the shortest report that receivers accept: no report block, and
    /// no name but the CNAME.
    func datagram(canonicalName: String) -> [UInt8] {
        let report = ReceiverReport(ssrc: sender)
        let description = SourceDescription(ssrc: sender, canonicalName: canonicalName)
        return [UInt8](capacity: report.byteCount + description.byteCount + byteCount) { datagram in
            report.write(into: &datagram)
            description.write(into: &datagram)
            write(into: &datagram)
        }
    }
}
