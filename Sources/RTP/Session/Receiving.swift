internal import TenfourAudioCore
internal import TenfourPackets

/// From bytes to what they mean, or to the reason why they mean nothing.
extension RTPSession {
    mutating func read(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard datagram.count >= 2 else { return .discarded(.empty) }
        if case .only(let addresses) = configuration.accepted, !addresses.contains(sender.address) {
            return .discarded(.stranger)
        }
        guard (128...191).contains(datagram[0]) else { return .discarded(.unknownProtocol) }
        return RTCPCompound.isRTCP(secondByte: datagram[1])
            ? readControl(datagram, from: sender, at: now) : readMedia(datagram, from: sender, at: now)
    }

    private mutating func readMedia(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard let header = try? RTPHeader(parsing: datagram) else { return .discarded(.malformedRTP) }
        var payload = header.payload
        var redundant: RedundantPayload?
        if !configuration.acceptedPayloadTypes.contains(header.payloadType) {
            guard header.payloadType == configuration.lossProtection.redPayloadType else {
                return .discarded(.unknownPayloadType)
            }
            guard let blocks = try? RedundantPayload(parsing: datagram.extracting(header.payload)) else {
                return .discarded(.malformedPayload)
            }
            guard configuration.acceptedPayloadTypes.contains(blocks.primary.payloadType) else {
                return .discarded(.unknownPayloadType)
            }
            payload = (header.payload.lowerBound + blocks.primary.offset)..<header.payload.upperBound
            redundant = blocks
        }
        guard let opus = try? OpusPacket(parsing: datagram.extracting(payload)) else {
            unreadablePacketArrived(header, byteCount: datagram.count, from: sender, at: now)
            return .discarded(.malformedPayload)
        }
        guard payload.count <= Self.maximumPayloadByteCount else { return .discarded(.oversizedPayload) }
        guard header.ssrc != ssrc else { return .discarded(receiveOwnSSRC(header, at: now)) }
        switch admit(header.ssrc, from: sender, at: now) {
        case .refused(let reason):
            return .discarded(reason)
        case .source(let index):
            let origin = sources[index].packetArrived(header, opus.frameCount, byteCount: datagram.count, at: now)
            guard sources[index].payloadDetector.take(opus.toc) else {
                if sources[index].payloadDetector.isNewlyDoubted() { events.post(.sourceLooksEncrypted(header.ssrc)) }
                return .discarded(.looksEncrypted)
            }
            var packet = MediaPacket(header: header, payload: payload, frameCount: opus.frameCount, origin: origin)
            if let redundant {
                sources[index].addCopies(redundant, of: datagram, header, into: &packet, configuration, at: now)
            }
            ask(index, at: now)
            scheduleInitialReport(index, at: now)
            return .media(packet)
        }
    }

    /// A packet of a known source whose payload is no Opus, as half of all encrypted ones: the network has not lost it.
    private mutating func unreadablePacketArrived(
        _ header: RTPHeader, byteCount: Int, from sender: Endpoint, at now: Instant
    ) {
        guard let index = index(of: header.ssrc), sources[index].sends(from: sender, at: now) else { return }
        _ = sources[index].packetArrived(header, nil, byteCount: byteCount, at: now)
    }

    /// A packet within the datagram that cannot be read spoils only itself: the others count.
    private mutating func readControl(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard var packets = try? RTCPCompound(parsing: datagram, allowsReducedSize: true) else {
            return .discarded(.malformedRTCP)
        }
        (hasFreshReport, hasNewCapabilities) = (false, false)
        var isWhole = true
        var isQuestion = false
        while true {
            do {
                guard let packet = try packets.next() else { break }
                if case .genericNACK = packet { isQuestion = true }
                take(packet, from: sender, at: now)
            } catch {
                isWhole = false
            }
        }
        // Questions are short and have bounds of their own: by them reports would seem to cost less than they do.
        if !isQuestion { schedule.observe(byteCount: datagram.count) }
        reportReceiverView()
        postNewReporters()
        if hasFreshReport || hasNewCapabilities { decide(isFresh: hasFreshReport, at: now) }
        expediteReportsOnLoss(at: now)
        return isWhole ? .control : .discarded(.malformedRTCP)
    }

    private mutating func take(_ packet: RTCPPacket, from sender: Endpoint, at now: Instant) {
        switch packet {
        case .senderReport(let report):
            reportArrived(from: report.ssrc, at: sender, now)
            if let index = index(of: report.ssrc, at: sender) {
                sources[index].reception.senderReportArrived(report, at: now)
            }
            take(report.blocks, from: report.ssrc, at: sender, now)
        case .receiverReport(let report):
            reportArrived(from: report.ssrc, at: sender, now)
            take(report.blocks, from: report.ssrc, at: sender, now)
        case .sourceDescription(let description):
            for chunk in description.chunks { take(chunk, from: sender, at: now) }
        case .goodbye(let goodbye):
            for ssrc in goodbye.sources { goodbyeArrived(from: ssrc, at: sender, reason: goodbye.reason ?? "", now) }
        case .genericNACK(let nack):
            take(nack, from: sender, at: now)
        case .extendedReport(let report):
            take(report, from: sender, at: now)
        case .unknown:
            break
        }
    }

    private mutating func take(_ blocks: [ReportBlock], from ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        guard ssrc != self.ssrc, let block = blocks.first(where: { $0.ssrc == self.ssrc }) else { return }
        let view = ReceiverView(
            lossShare: Double(block.fractionLost) / 256, lostCount: block.cumulativeLost,
            jitter: block.jitter.duration(), roundTrip: block.roundTrip(receivedAt: wallClock(at: now)))
        if let roundTrip = view.roundTrip, let index = index(of: ssrc, at: sender) {
            sources[index].trace.roundTrip.reported(roundTrip, at: now)
        }
        if isReceiver(sender) {
            hasFreshReport = true
            receivers.update(ssrc, at: sender.address, now) { receiver in
                receiver.reported(at: now)
                receiver.lossShare = view.lossShare
                if let roundTrip = view.roundTrip { receiver.roundTrip.reported(roundTrip, at: now) }
            }
        }
        reportReceiverView()
        pendingReceiverView = (ssrc, view)
    }

    /// When all is read that the datagram says of it.
    private mutating func reportReceiverView() {
        guard var (receiver, view) = pendingReceiverView else { return }
        pendingReceiverView = nil
        let capabilities =
            receivers.all.first { $0.ssrc == receiver }?.capabilities
            ?? index(of: receiver).flatMap { sources[$0].capabilities }
        view.concealment = capabilities?.concealment ?? .plain
        sendStream.lastReceiverView = view
        events.post(.receiverReported(receiver, view))
    }

    private mutating func take(_ report: ExtendedReport, from sender: Endpoint, at now: Instant) {
        guard report.sender != ssrc else { return }
        readClocks(report, from: sender, at: now)
        guard isReceiver(sender) else { return }
        for case .voipMetrics(let metrics) in report.blocks where metrics.source == ssrc {
            guard pendingReceiverView?.receiver == report.sender else { continue }
            pendingReceiverView?.view.discardShare = Double(metrics.discardRate) / 256
        }
        for case .lossRLE(let loss) in report.blocks where loss.source == ssrc && loss.thinning == 0 {
            hasFreshReport = true
            let summary = loss.summary
            receivers.update(report.sender, at: sender.address, now) { $0.take(summary, at: now) }
            guard pendingReceiverView?.receiver == report.sender else { continue }
            pendingReceiverView?.view.networkLossShare = summary.share
            pendingReceiverView?.view.burstLength = summary.meanBurstLength
        }
    }

    /// A name that a report leaves out is still the name: NAME need not be in each of them (RFC 3550 section 6.3.9). So it is
    /// with abilities.
    private mutating func take(_ chunk: SourceDescription.Chunk, from sender: Endpoint, at now: Instant) {
        if let capabilities = Capabilities(chunk), chunk.ssrc != ssrc {
            if let index = index(of: chunk.ssrc, at: sender) { sources[index].capabilities = capabilities }
            if isReceiver(sender) { recordCapabilities(capabilities, of: chunk.ssrc, at: sender.address, now) }
        }
        if let name = chunk[.name]?.text ?? chunk.personalCanonicalName,
            reporters.named(chunk.ssrc, name, at: sender)
        {
            events.post(.sourceNamed(chunk.ssrc, name))
        }
        guard let index = index(of: chunk.ssrc, at: sender),
            let name = chunk[.name]?.text ?? sources[index].name ?? chunk.personalCanonicalName,
            name != sources[index].name
        else { return }
        sources[index].name = name
        events.post(.sourceNamed(chunk.ssrc, name))
    }

    private mutating func recordCapabilities(
        _ capabilities: Capabilities, of ssrc: SSRC, at address: IPAddress, _ now: Instant
    ) {
        var isNew = false
        receivers.update(ssrc, at: address, now) { receiver in
            isNew = receiver.capabilities != capabilities
            receiver.capabilities = capabilities
        }
        if isNew { hasNewCapabilities = true }
    }
}

extension Source {
    /// Adds to `packet` the copies of packets that have not come. A copy's packet is found by its time, which tells how many
    /// packets earlier it was sent only where the sound has no gap: not on the first packet of a talkspurt.
    fileprivate mutating func addCopies(
        _ blocks: RedundantPayload, of datagram: Span<UInt8>, _ header: RTPHeader, into packet: inout MediaPacket,
        _ configuration: RTPSessionConfiguration, at now: Instant
    ) {
        for index in 0..<blocks.count - 1 {
            let block = blocks[index]
            guard configuration.acceptedPayloadTypes.contains(block.payloadType), block.byteCount > 0 else { continue }
            let start = header.payload.lowerBound + block.offset
            let frameCount = packet.description.frameCount
            let (distance, rest) = block.age.rawValue.quotientAndRemainder(dividingBy: frameCount.rawValue)
            guard !header.marker, distance > 0, rest == 0,
                let opus = try? OpusPacket(parsing: datagram.extracting(start..<start + block.byteCount)),
                opus.frameCount == frameCount
            else {
                recovery.strayCopyCount += 1
                continue
            }
            trace.copySeen(distance: distance, at: now)
            let number = header.sequenceNumber.advanced(by: -distance)
            guard trace.wants(number, distance: distance) else { continue }
            trace.copyArrived(of: number, at: now)
            recovery.copyCount += 1
            packet.add(
                copyOfPacketBefore: distance, age: block.age,
                PacketDescription(offset: start, byteCount: block.byteCount, frameCount: frameCount))
        }
    }
}

extension SourceDescription.Chunk {
    /// A CNAME of the older sort, `doe@host.example.com`: those that chance has made (RFC 7022) tell a person nothing.
    fileprivate var personalCanonicalName: String? {
        self[.canonicalName].flatMap { $0.text.contains("@") ? $0.text : nil }
    }
}
