public import TenfourAudioCore
public import TenfourPackets

/// One end of an RTP conversation: parses received datagrams, packetizes outgoing media, keeps statistics of both and
/// reports them (RTCP). Opens no socket, reads no clock, starts no thread.
///
/// After each call of another method, call `nextDatagram` until nil, then `nextEvent` until nil. Then sleep until
/// `nextDeadline`.
public struct RTPSession: ~Copyable, Sendable {
    public private(set) var discards = DiscardCounts()
    /// The configuration that `init` was given, with the present addresses of remotes that have moved.
    public private(set) var configuration: RTPSessionConfiguration

    var identity: Identity
    var sender: MediaSender
    var members = ParticipantTable()
    var feedback = ReceiverFeedback()
    var schedule = ReportSchedule()
    var unnamedStreams = UnnamedStreams()
    var loopDetector = LoopDetector()
    var nackRequester = NACKRequester()
    var outbox = Outbox()
    var events = EventQueue()
    private var applicationPackets = ApplicationPackets()
    var status: StatusExchange
    /// The time at which `updateStatus` is due; nil if nothing is.
    private var statusDeadline: Instant?
    /// The time at which the caller began to read the socket; nil if it is unknown.
    private(set) var receptionStart: Instant?
    /// The departure from the session; nil before `leave`.
    var departure: Departure?

    /// The minimum capacity of a datagram buffer, in bytes. No datagram that we send is longer.
    public static let maximumDatagramByteCount = 1_500
    /// The maximum length of a payload, sent or received, in bytes: the Ethernet MTU less IPv6, UDP and RTP headers.
    public static let maximumPayloadByteCount = 1_440
    /// The maximum number of sources at a time. It is more than anybody can listen to at once.
    public static let maximumSourceCount = 64
    /// The minimum time between two changes of our SSRC because of collisions. A random collision happens once in four
    /// thousand million joins. A participant that causes many collisions must not keep us from being heard.
    public static let collisionInterval = Duration.seconds(60)

    /// The time that it takes to read what has waited in the socket before the reception began: 20 ms.
    static let backlogTime = Duration.milliseconds(20)

    public init(identity: Identity, configuration: RTPSessionConfiguration, at now: Instant) {
        self.identity = identity
        self.configuration = configuration
        sender = MediaSender(identity, configuration)
        status = StatusExchange(at: now)
        armReports(at: now)
        updateLossProtection(isFresh: false, at: now)
        statusDeadline = statusDeadline(at: now)
    }

    // MARK: - State

    /// Our SSRC. It changes when another participant uses the same SSRC.
    public var ssrc: SSRC { identity.ssrc }
    /// Our own stream.
    public var sendStream: SendStream { sender.stream }
    /// The participants that send media to us, in the order of their first packets.
    public var sources: [Source] { members.sources }
    /// The loss protection of our stream. The caller sets the encoder to its bit rate, in-band FEC and expected loss.
    public var lossProtection: LossProtection { sender.lossProtection }
    /// The estimated bit rate that the network carries, in bit/s.
    var estimatedBitRate: Int { sender.estimatedBitRate }
    /// The number of participants that report and send no media.
    var listenerCount: Int { members.listenerCount }

    /// The participants at `now`: first the sources of media, then those that only report, each in order of arrival.
    public func participants(at now: Instant) -> [Participant] { members.all(at: now) }

    /// The partners and whether they hear us; empty while we do not transmit. In a channel they are the members that the relay
    /// has asked.
    public func hearings(at now: Instant) -> [Hearing] { status.monitor.hearings(configuration.remotes, at: now) }

    /// The number of our packets that the partners' reports cover, counted from the first. Whether later ones have arrived is
    /// not known. Nil before any report on our stream, and in a channel.
    public var coveredCount: Int? { status.monitor.coveredCount }

    /// Whether `leave` was called.
    public var hasLeft: Bool { departure != nil }

    /// Whether `leave` was called and a partner may still report on packets of ours: at most 500 ms after `leave`.
    public var awaitsLastReports: Bool { departure?.end != nil && status.monitor.awaitsLastReports }

    /// The number of our last packets that have not arrived, according to the partners' reports after `leave`; nil before
    /// all of them have reported.
    public var lostAtEndCount: Int? {
        guard departure != nil, status.monitor.hasLastReports else { return nil }
        return status.monitor.coveredCount.map { sendStream.packetCount - $0 }
    }

    // MARK: - Input

    /// Records that the caller begins to read the socket. What has arrived before then is received at once, and its arrival
    /// times say nothing about the network.
    package mutating func beginReception(at now: Instant) { receptionStart = now }

    /// Processes a datagram from `sender`: media or RTCP. Any other datagram is counted and discarded.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        let reception = read(datagram, from: sender, at: now)
        if case .discarded(let reason) = reception { discards.count(reason) }
        // Nothing of interest is in what was discarded, apart from RTCP of which a part was read.
        if !reception.isDiscarded || reception == .discarded(.malformedRTCP) {
            if statesStatus { status.lastDatagram = now }
            statusDeadline = statusDeadline(at: now)
        }
        return reception
    }

    /// Queues one packet of the configuration's encoding, of at most `maximumPayloadByteCount` bytes. `position` is the
    /// start of the packet's audio, in frames at 48 000 Hz since the start of our stream, silence included; with G.711
    /// a multiple of 6. `startsTalkspurt` sets the marker.
    public mutating func send(
        _ payload: Span<UInt8>, at position: FrameCount, startsTalkspurt: Bool, now: Instant
    ) {
        precondition(payload.count <= Self.maximumPayloadByteCount, "a payload is at most 1440 bytes")
        if sendStream.packetCount == 0, !configuration.remotes.isEmpty { expediteReport(at: now) }
        let header = sender.send(
            payload, at: position, startsTalkspurt: startsTalkspurt, under: ssrc, configuration, &outbox, now: now)
        loopDetector.packetSent(header)
        status.packetSent(at: now)
        statusDeadline = statusDeadline(at: now)
    }

    /// Sends an APP packet of subtype zero to the remotes at once, outside the schedule of reports: the caller limits
    /// its rate. `data` has whole words of four bytes, at most `ApplicationPacket.maximumByteCount` bytes.
    public mutating func sendApplicationPacket(name: UInt32, _ data: [UInt8]) {
        precondition(data.count % 4 == 0 && data.count <= ApplicationPacket.maximumByteCount, "APP has whole words")
        guard configuration.controlPort != .none else { return }
        let packet = ApplicationPacket(ssrc: ssrc, name: name, data: data)
        putControl(packet.datagram(canonicalName: identity.canonicalName), to: configuration.remotes)
    }

    /// Does the work that is due at `nextDeadline`. Does nothing before that time.
    public mutating func timeElapsed(at now: Instant) {
        // Before a source is removed, it reads which of its packets came after its BYE.
        if members.hasDeparted(at: now) { answerGoodbyes(at: now) }
        members.removeExpired(schedule, &events, at: now)
        guard !hasLeft else { return repeatGoodbye(at: now) }
        if let deadline = nackRequester.deadline, deadline <= now {
            for index in members.indices { requestLostPackets(of: index, at: now) }
            nackRequester.updateDeadline(members.sources, configuration)
        }
        // Reviews the protection, which ends a while after the last report of loss, even if no other report arrives.
        if let deadline = sender.deadline, deadline <= now { updateLossProtection(isFresh: false, at: now) }
        reportWhenDue(at: now)
        updateStatus(at: now)
        statusDeadline = statusDeadline(at: now)
    }

    /// Continues with the partner at another address, because its host name now resolves to that address. Our stream
    /// goes to `remote`, and only datagrams from `accepted` are accepted. Nothing more is sent to the old address.
    public mutating func partnerMoved(to remote: Endpoint, accepting accepted: Set<IPAddress>, at now: Instant) {
        configuration.remotes = [remote]
        configuration.accepted = .only(accepted)
        status.monitor.partnerMoved(to: remote.address)
        status.lastDatagram = nil
        expediteReport(at: now)
        statusDeadline = statusDeadline(at: now)
    }

    /// Records the playout of a source since it was first heard: `due` frames were to be played, the card did not play
    /// `missing` of them, and `concealed` of them were lost or late. Our reports state the proportions.
    public mutating func playout(
        of ssrc: SSRC, due: FrameCount, missing: FrameCount, concealed: FrameCount = .zero, at now: Instant
    ) {
        guard let index = members.index(of: ssrc) else { return }
        members[index].played.update(missing: missing, due: due, at: now)
        members[index].played(missing: min(missing + concealed, due), due: due, at: now)
    }

    /// Sets where the audio goes that we receive, which our reports state.
    public mutating func setOutput(_ output: StationStatus.Output, at now: Instant) {
        // While there was no output, all audio was missing.
        if output != .none, status.output == .none {
            for index in members.indices { members[index].pauseEnded(at: now) }
        }
        status.setOutput(output)
        statusDeadline = statusDeadline(at: now)
    }

    /// Records that the machine of a remote has refused a datagram, because no program receives there (ICMP).
    package mutating func datagramRefused(by endpoint: Endpoint, at now: Instant) {
        guard statesStatus, configuration.remotes.contains(endpoint) else { return }
        status.monitor.datagramRefused(by: endpoint, at: now)
        updateStatus(at: now)
        statusDeadline = statusDeadline(at: now)
    }

    /// Sends the next report early to a remote whose datagrams cannot be decrypted: it cannot decrypt ours, and reads that
    /// before it has waited for an answer.
    package mutating func foreignKeyFound(at now: Instant) { expediteReport(at: now) }

    /// Records the playout delay of a source, measured from the arrival of its fastest packet. Call it whenever the
    /// delay may have changed: lost packets are requested as long as they can still arrive in time. Before the first
    /// call, the maximum playout delay of the configuration is used.
    public mutating func playoutDelay(of ssrc: SSRC, is delay: Duration) {
        guard let index = members.index(of: ssrc) else { return }
        members[index].trace.playoutDelay = delay
    }

    /// Sets our decoder's concealment of lost packets, which our next report states to the senders.
    public mutating func setConcealment(_ concealment: PacketLossConcealment) {
        configuration.lossProtection.concealment = concealment
    }

    /// Sends BYE under our SSRC and continues under a new one, never 0, which `identityChanged` reports. Only for a
    /// collision that `receive` cannot detect.
    public mutating func takeAnotherSSRC(at now: Instant) {
        sendGoodbye(at: now)
        let old = ssrc
        repeat {
            identity.ssrc = SSRC(UInt32(truncatingIfNeeded: identity.draw()))
        } while ssrc == old || ssrc == SSRC(0) || members.index(of: ssrc) != nil
        sender.ssrcChanged()
        status.monitor.ssrcChanged()
        status.schedule.expedite()
        events.post(.identityChanged(ssrc))
    }

    /// Sends BYE, unless the session has 50 members or more. Send nothing afterwards. While `awaitsLastReports` is true,
    /// continue to pass datagrams and the time.
    public mutating func leave(at now: Instant) {
        let hasSaidGoodbye = sendGoodbye(at: now)
        status.monitor.leave()
        departure = Departure(at: now, hasSaidGoodbye: hasSaidGoodbye)
    }

    // MARK: - Output

    /// Appends the next outgoing datagram, of at most `maximumDatagramByteCount`, to `buffer`; nil if there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Destination? {
        outbox.next(into: &buffer)
    }

    public mutating func nextEvent() -> Event? { events.next() }

    /// The next APP packet of a remote. At most 32 wait.
    public mutating func nextApplicationPacket() -> ApplicationPacket? { applicationPackets.next() }

    /// The latest time at which `timeElapsed` must be called; nil while nothing is due.
    public var nextDeadline: Instant? {
        if let departure { return earlier(members.deadline, awaitsLastReports ? departure.deadline : nil) }
        return earlier(
            earlier(earlier(schedule.deadline, members.deadline), earlier(nackRequester.deadline, sender.deadline)),
            statusDeadline)
    }

    mutating func refreshStatusDeadline(at now: Instant) { statusDeadline = statusDeadline(at: now) }

    // MARK: - Received RTCP

    /// Reads the RTCP packets of a datagram. A malformed packet is skipped; the other packets are still read.
    mutating func readControl(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard var compound = try? RTCPCompound(parsing: datagram, allowsReducedSize: true) else {
            return .discarded(.malformedRTCP)
        }
        let (packets, isWhole) = compound.rest()
        var reading = ReceiverFeedback.Datagram(
            to: ssrc, from: sender, isRemote: configuration.isRemote(sender),
            clockRate: configuration.encoding.clockRate, wallClock: identity.wallClock(at: now),
            isBrief: isBrief(packets, in: datagram), at: now)
        var hasShort = false
        var hasGoodbye = false
        for packet in packets {
            if case .genericNACK = packet { hasShort = true }
            if case .goodbye = packet { hasGoodbye = true }
            if !readStatus(packet, in: datagram, reading), reading.isRemote,
                applicationPackets.take(packet, in: datagram, own: ssrc)
            {
                hasShort = true
            }
            read(packet, &reading)
        }
        // Counts the size of the datagram, unless it contains a NACK or APP or is brief: those are short and have limits of
        // their own.
        if !hasShort, !reading.isBrief { schedule.observe(byteCount: datagram.count) }
        post(feedback.completeView(&reading, members))
        members.postNewReporters(to: &events)
        finishStatus(reading, isFeedback: hasShort)
        // The second BYE of a source that has had no answer comes before it is removed.
        if hasGoodbye { answerGoodbyes(at: now) }
        if reading.hasFreshReport || reading.hasNewCapabilities {
            updateLossProtection(isFresh: reading.hasFreshReport, at: now)
        }
        expediteReportsOnLoss(at: now)
        return isWhole ? .control : .discarded(.malformedRTCP)
    }

    private mutating func read(_ packet: RTCPPacket, _ reading: inout ReceiverFeedback.Datagram) {
        let (sender, now) = (reading.sender, reading.arrival)
        switch packet {
        case .senderReport(let report):
            reportArrived(from: report.ssrc, report.blocks, reading)
            if let index = members.index(of: report.ssrc, at: sender) {
                members[index].reception.senderReportArrived(report, at: now)
            }
            post(feedback.read(report.blocks, from: report.ssrc, &reading, &members))
        case .receiverReport(let report):
            reportArrived(from: report.ssrc, report.blocks, reading)
            post(feedback.read(report.blocks, from: report.ssrc, &reading, &members))
        case .sourceDescription(let description):
            for chunk in description.chunks {
                feedback.readCapabilities(chunk, &reading, &members)
                members.describe(chunk, from: sender, &events, at: now)
            }
        case .goodbye(let goodbye):
            for ssrc in goodbye.sources {
                members.goodbyeArrived(from: ssrc, at: sender, reason: goodbye.reason ?? "", schedule, &events, now)
                feedback.remove(ssrc, at: sender)
                status.remove(ssrc, at: sender, now)
                schedule.membersLeft(membership, at: now)
            }
        case .genericNACK(let nack): retransmit(nack, from: reading.sender, at: now)
        case .extendedReport(let report):
            if feedback.read(report, &reading, &members), isSender { expediteReport(at: now) }
        case .unknown: break
        }
    }

    private mutating func reportArrived(
        from ssrc: SSRC, _ blocks: [ReportBlock], _ reading: ReceiverFeedback.Datagram
    ) {
        guard ssrc != self.ssrc else { return }
        members.reportArrived(from: ssrc, at: reading.sender, configuration, schedule, reading.arrival)
        guard statesStatus, reading.isRemote, !reading.sender.address.isUnspecified else { return }
        status.read(
            blocks, from: ssrc, about: self.ssrc, next: sendStream.nextSequenceNumber, wallClock: reading.wallClock,
            isConfigured: configuration.isConfigured(reading.sender), at: reading.sender, reading.arrival)
    }

    private mutating func post(_ report: (receiver: SSRC, view: ReceiverView)?) {
        guard let report else { return }
        status.add(report.view, of: report.receiver)
        sender.receiverReported(report.view)
        events.post(.receiverReported(report.receiver, report.view))
    }

    // MARK: - Loss

    mutating func requestLostPackets(of index: Int, at now: Instant) {
        let numbers = nackRequester.poll(&members[index], configuration, at: now)
        if !numbers.isEmpty { sendNACK(for: numbers, to: index, at: now) }
        expediteReportsOnLoss(at: now)
    }

    private mutating func sendNACK(for numbers: [SequenceNumber], to index: Int, at now: Instant) {
        let nack = GenericNACK(sender: ssrc, media: members[index].ssrc, sequenceNumbers: numbers)
        let datagram = nack.datagram(canonicalName: identity.canonicalName)
        guard nackRequester.spend(byteCount: datagram.count, at: now) else { return }
        let endpoint = members[index].endpoint
        guard configuration.remotes.contains(endpoint) || members[index].spend(datagram.count),
            let control = configuration.controlEndpoint(of: endpoint)
        else { return }
        sender.controlSent()
        members[index].recovery.nackCount += 1
        outbox.putControl(datagram, to: control)
    }

    private mutating func retransmit(_ nack: GenericNACK, from endpoint: Endpoint, at now: Instant) {
        guard nack.media == ssrc, nack.sender != ssrc else { return }
        let roundTrip = feedback.receivers.roundTrip(from: endpoint.address)
        sender.retransmit(nack, to: endpoint, roundTrip: roundTrip, configuration, &outbox, at: now)
    }

    private mutating func updateLossProtection(isFresh: Bool, at now: Instant) {
        sender.updateProtection(feedback.receivers, configuration, isFresh: isFresh, at: now)
    }
}
