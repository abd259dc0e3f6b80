internal import RTP
internal import Sound

/// From bytes to what they mean, or to the reason why they mean nothing.
extension Station {
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
        guard configuration.acceptedPayloadTypes.contains(header.payloadType) else {
            return .discarded(.unknownPayloadType)
        }
        guard let opus = try? OpusPacket(parsing: datagram.extracting(header.payload)) else {
            return .discarded(.malformedPayload)
        }
        guard header.ssrc != ssrc else { return .discarded(meetOwnNumber(header, at: now)) }
        switch admit(header.ssrc, from: sender, at: now) {
        case .refused(let reason):
            return .discarded(reason)
        case .source(let index):
            sources[index].packetArrived(header, byteCount: datagram.count, at: now)
            return .media(MediaPacket(header: header, opus: opus))
        }
    }

    /// A packet within the datagram that cannot be read spoils only itself: the others count.
    private mutating func readControl(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard var packets = try? RTCPCompound(parsing: datagram, allowsReducedSize: true) else {
            return .discarded(.malformedRTCP)
        }
        schedule.observe(byteCount: datagram.count)
        var isWhole = true
        while true {
            do {
                guard let packet = try packets.next() else { break }
                take(packet, from: sender, at: now)
            } catch {
                isWhole = false
            }
        }
        return isWhole ? .control : .discarded(.malformedRTCP)
    }

    private mutating func take(_ packet: RTCPPacket, from sender: Endpoint, at now: Instant) {
        switch packet {
        case .senderReport(let report):
            reportArrived(from: report.ssrc, at: sender, now)
            if let index = index(of: report.ssrc, at: sender) {
                sources[index].reception.senderReportArrived(report, at: now)
            }
            take(report.blocks, from: report.ssrc, at: now)
        case .receiverReport(let report):
            reportArrived(from: report.ssrc, at: sender, now)
            take(report.blocks, from: report.ssrc, at: now)
        case .sourceDescription(let description):
            for chunk in description.chunks { take(chunk, from: sender) }
        case .goodbye(let goodbye):
            for ssrc in goodbye.sources { goodbyeArrived(from: ssrc, at: sender, reason: goodbye.reason ?? "", now) }
        case .genericNACK, .voipMetrics, .unknown:
            break
        }
    }

    private mutating func take(_ blocks: [ReportBlock], from receiver: SSRC, at now: Instant) {
        guard receiver != ssrc, let block = blocks.first(where: { $0.ssrc == ssrc }) else { return }
        let view = ReceiverView(
            lossShare: Double(block.fractionLost) / 256, lostCount: block.cumulativeLost,
            jitter: block.jitter.duration(), roundTrip: block.roundTrip(receivedAt: wallClock(at: now)))
        transmission.lastView = view
        events.post(.receiverReported(receiver, view))
    }

    /// A name that a report leaves out is still the name: NAME need not be in each of them (RFC 3550 section 6.3.9).
    private mutating func take(_ chunk: SourceDescription.Chunk, from sender: Endpoint) {
        guard let index = index(of: chunk.ssrc, at: sender),
            let name = chunk[.name]?.text ?? sources[index].name ?? chunk.personalCanonicalName,
            name != sources[index].name
        else { return }
        sources[index].name = name
        events.post(.sourceNamed(chunk.ssrc, name))
    }
}

extension SourceDescription.Chunk {
    /// A CNAME of the older sort, `doe@host.example.com`: those that chance has made (RFC 7022) tell a person nothing.
    fileprivate var personalCanonicalName: String? {
        self[.canonicalName].flatMap { $0.text.contains("@") ? $0.text : nil }
    }
}
