public import RTP
public import Sound

/// One end of a conversation: parses what comes, packetizes what goes, keeps account of both and reports (RTCP).
/// Opens no socket, reads no clock, starts no thread.
///
/// After each input, take datagrams until nil, then events until nil, then sleep until `nextDeadline`.
public struct Station: Sendable {
    public private(set) var sources: [Source] = []
    public private(set) var transmission: Transmission
    public private(set) var discards = DiscardCounts()
    /// Changes when another station turns out to use the same.
    public var ssrc: SSRC { identity.ssrc }
    /// When `timeElapsed` wants to be called at the latest.
    public var nextDeadline: Instant? { schedule.deadline }

    private var identity: Identity
    private let configuration: StationConfiguration
    private var schedule = ReportSchedule()
    private var outbox = Outbox()
    private var events: [Event] = []
    /// Addresses that our own packets come back from.
    private var loops: [Endpoint] = []

    /// What became of a datagram.
    public enum Reception: Equatable, Sendable {
        case media(MediaPacket)
        case control
        case discarded(Discard)
    }

    /// Where a datagram is to go.
    public struct Destination: Hashable, Sendable {
        public var endpoint: Endpoint
        /// Through the socket for RTCP where that has one of its own.
        public var isControl: Bool
    }

    /// More senders than anybody can listen to at once.
    public static let maximumSourceCount = 64
    private static let maximumEventCount = 256
    private static let maximumLoopCount = 8
    /// A source not heard for so long has left (RFC 3550 section 6.3.5 has five intervals).
    private static let sourceTimeout = Duration.seconds(10)

    public init(identity: Identity, configuration: StationConfiguration, at now: Instant) {
        self.identity = identity
        self.configuration = configuration
        transmission = Transmission(identity)
        armReports(at: now)
    }

    // MARK: - In

    /// Takes in a datagram that `sender` sent. Total: whatever its bytes, it is media, control, or counted and forgotten.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        let reception = read(datagram, from: sender, at: now)
        if case .discarded(let reason) = reception { discards.count(reason) }
        return reception
    }

    /// Queues one Opus packet to be sent. `position` is where its sound begins, counted from the start of our stream and
    /// through its silences; `startsTalkspurt` sets the marker.
    public mutating func send(
        _ payload: Span<UInt8>, at position: FrameCount, startsTalkspurt: Bool, now: Instant
    ) {
        let timestamp = transmission.firstTimestamp.advanced(by: position)
        let header = RTPHeader(
            marker: startsTalkspurt, payloadType: configuration.payloadType,
            sequenceNumber: transmission.sequenceNumber, timestamp: timestamp, ssrc: identity.ssrc)
        transmission.sequenceNumber = transmission.sequenceNumber.advanced(by: 1)
        transmission.lastTimestamp = timestamp
        transmission.lastSent = now
        transmission.packetCount += 1
        transmission.byteCount += payload.count
        outbox.putMedia(header, payload, to: configuration.remotes)
    }

    /// The deadline has come.
    public mutating func timeElapsed(at now: Instant) {
        guard let deadline = schedule.deadline, deadline <= now else { return }
        removeSilentSources(at: now)
        report(at: now)
        armReports(at: now)
    }

    /// Says good-bye to all who hear from us. Nothing else should follow.
    public mutating func leave(at now: Instant) {
        report(at: now, goodbye: Goodbye(sources: [identity.ssrc]))
    }

    // MARK: - Out

    /// Appends the next datagram to go out to `buffer`, which has room for 1500 bytes; nil when there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Destination? {
        outbox.next(into: &buffer)
    }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }
}

// MARK: - Receiving

extension Station {
    private mutating func read(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard datagram.count >= 2 else { return .discarded(.empty) }
        guard (128...191).contains(datagram[0]) else { return .discarded(.unknownProtocol) }
        if case .only(let addresses) = configuration.accepted, !addresses.contains(sender.address) {
            return .discarded(.stranger)
        }
        return RTCPCompound.isRTCP(secondByte: datagram[1])
            ? readControl(datagram, from: sender, at: now) : readMedia(datagram, from: sender, at: now)
    }

    private mutating func readMedia(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard let header = try? RTPHeader(parsing: datagram) else { return .discarded(.malformedRTP) }
        guard configuration.acceptedPayloadTypes.contains(header.payloadType) else {
            return .discarded(.unknownPayloadType)
        }
        guard let opus = try? OpusPacket(parsing: datagram.extracting(header.payload)) else {
            return .discarded(.malformedPayload)
        }
        guard header.ssrc != identity.ssrc else { return collide(with: sender, at: now) }
        guard let index = source(header.ssrc, from: sender, at: now) else { return .discarded(.tooManySources) }
        sources[index].endpoint = sender
        sources[index].lastHeard = now
        sources[index].reception.packetArrived(header.sequenceNumber, timestamp: header.timestamp, at: now)
        return .media(MediaPacket(header: header, opus: opus))
    }

    private mutating func readControl(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard var packets = try? RTCPCompound(parsing: datagram, allowsReducedSize: true) else {
            return .discarded(.malformedRTCP)
        }
        schedule.observe(byteCount: datagram.count)
        var isWhole = true
        while true {
            do {
                guard let packet = try packets.next() else { break }
                take(packet, at: now)
            } catch {
                isWhole = false
            }
        }
        return isWhole ? .control : .discarded(.malformedRTCP)
    }

    private mutating func take(_ packet: RTCPPacket, at now: Instant) {
        switch packet {
        case .senderReport(let report):
            if let index = index(of: report.ssrc) { sources[index].reception.senderReportArrived(report, at: now) }
            take(report.blocks, from: report.ssrc, at: now)
        case .receiverReport(let report):
            take(report.blocks, from: report.ssrc, at: now)
        case .sourceDescription(let description):
            for chunk in description.chunks { take(chunk) }
        case .goodbye(let goodbye):
            for ssrc in goodbye.sources { remove(ssrc, reason: goodbye.reason ?? "") }
        case .unknown:
            break
        }
    }

    private mutating func take(_ blocks: [ReportBlock], from receiver: SSRC, at now: Instant) {
        guard let block = blocks.first(where: { $0.ssrc == identity.ssrc }) else { return }
        let view = ReceiverView(
            lossShare: Double(block.fractionLost) / 256, lostCount: block.cumulativeLost,
            jitter: block.jitter.duration(), roundTrip: block.roundTrip(receivedAt: wallClock(at: now)))
        transmission.lastView = view
        post(.receiverReported(receiver, view))
    }

    private mutating func take(_ chunk: SourceDescription.Chunk) {
        guard let index = index(of: chunk.ssrc) else { return }
        sources[index].canonicalName = chunk[.canonicalName]?.value
        guard let name = (chunk[.name] ?? chunk[.canonicalName])?.text, name != sources[index].name else { return }
        sources[index].name = name
        post(.sourceNamed(chunk.ssrc, name))
    }
}

// MARK: - Sources

extension Station {
    private func index(of ssrc: SSRC) -> Int? { sources.firstIndex { $0.ssrc == ssrc } }

    private mutating func source(_ ssrc: SSRC, from sender: Endpoint, at now: Instant) -> Int? {
        if let index = index(of: ssrc) { return index }
        if sources.count >= Self.maximumSourceCount { removeSilentSources(at: now) }
        guard sources.count < Self.maximumSourceCount else { return nil }
        sources.append(Source(ssrc: ssrc, endpoint: sender, at: now))
        post(.sourceAppeared(ssrc, from: sender))
        return sources.count - 1
    }

    private mutating func removeSilentSources(at now: Instant) {
        for source in sources where now - source.lastHeard > Self.sourceTimeout { remove(source.ssrc, reason: nil) }
    }

    private mutating func remove(_ ssrc: SSRC, reason: String?) {
        guard let index = index(of: ssrc) else { return }
        sources.remove(at: index)
        post(.sourceLeft(ssrc, reason: reason))
    }

    /// Somebody sends with our SSRC (RFC 3550 section 8.2). The first time from an address it is another station, and we
    /// take a new number; when that too comes back from there it is our own sound, looped.
    private mutating func collide(with sender: Endpoint, at now: Instant) -> Reception {
        guard !loops.contains(sender), loops.count < Self.maximumLoopCount else { return .discarded(.loop) }
        loops.append(sender)
        report(at: now, goodbye: Goodbye(sources: [identity.ssrc]))
        repeat { identity.ssrc = SSRC(UInt32(truncatingIfNeeded: identity.draw())) } while index(of: identity.ssrc) != nil
        post(.identityChanged(identity.ssrc))
        return .discarded(.loop)
    }

    private mutating func post(_ event: Event) {
        if events.count == Self.maximumEventCount { events.removeFirst() }
        events.append(event)
    }
}

// MARK: - Reporting

extension Station {
    private func wallClock(at now: Instant) -> NTPTime { identity.wallClock.advanced(by: now - .start) }

    private mutating func armReports(at now: Instant) {
        guard configuration.controlPort != .none else { return }
        schedule.arm(at: now, memberCount: 1 + max(sources.count, configuration.remotes.count), chance: identity.draw())
    }

    /// To the addresses a person typed, and to plain RTP's sources, which get nothing but reports.
    private mutating func report(at now: Instant, goodbye: Goodbye? = nil) {
        guard configuration.controlPort != .none else { return }
        var receivers = configuration.remotes
        for source in sources where !receivers.contains(source.endpoint) { receivers.append(source.endpoint) }
        guard !receivers.isEmpty else { return }
        let compound = compound(at: now, goodbye: goodbye)
        schedule.observe(byteCount: compound.count)
        for receiver in receivers {
            var endpoint = receiver
            if configuration.controlPort == .next { endpoint.port &+= 1 }
            outbox.putControl(compound, to: endpoint)
        }
    }

    private mutating func compound(at now: Instant, goodbye: Goodbye?) -> [UInt8] {
        var blocks: [ReportBlock] = []
        for index in sources.indices where blocks.count < ReportBlock.maximumCount {
            if let block = sources[index].reception.reportBlock(at: now) { blocks.append(block) }
        }
        let description = SourceDescription(
            ssrc: identity.ssrc, canonicalName: configuration.canonicalName, name: configuration.name, tool: "tenfour")
        return [UInt8](capacity: 2_048) { datagram in
            if transmission.lastSent.map({ now - $0 < Self.sourceTimeout }) ?? false {
                SenderReport(
                    ssrc: identity.ssrc, time: wallClock(at: now), timestamp: transmission.timestamp(at: now),
                    packetCount: UInt32(truncatingIfNeeded: transmission.packetCount),
                    octetCount: UInt32(truncatingIfNeeded: transmission.byteCount), blocks: blocks
                ).write(into: &datagram)
            } else {
                ReceiverReport(ssrc: identity.ssrc, blocks: blocks).write(into: &datagram)
            }
            description.write(into: &datagram)
            goodbye?.write(into: &datagram)
        }
    }
}
