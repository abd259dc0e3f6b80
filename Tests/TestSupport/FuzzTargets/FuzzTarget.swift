import TenfourAudioCore
import TenfourPacketCapture
import TenfourPackets
import TenfourSession

/// A parser or module that receives a stranger's bytes. `Tools/fuzz` searches for bytes that break it; the ordinary
/// tests feed it earlier findings and noise.
public enum FuzzTarget: String, CaseIterable, Sendable {
    case rtp, rtcp, sdp, opus, reception, session, playout, capture, link, control, srtp, configuration, relay, channel
    case icy, playlist, hls, cue, ogg, wav, tags, frames, places, response, live, request
    case terminal, command, input, hid, recording, transmissions, pairing, call, lobby, floor, doctor, application
    case filters, identity, roster, rosterchange, prekey, deposit, announcement, cluster
    case rendezvous

    /// Parses `bytes`. Traps if the parser traps or violates an invariant: a range outside the bytes, or a value that
    /// reads differently after it was written again.
    public func feed(_ bytes: Span<UInt8>) {
        switch self {
        case .rtp: feedRTP(bytes)
        case .rtcp: feedRTCP(bytes)
        case .sdp: feedSDP(bytes)
        case .opus: feedOpus(bytes)
        case .reception: feedReception(bytes)
        case .session: feedStation(bytes)
        case .playout: feedPlayout(bytes)
        case .capture: feedCapture(bytes)
        case .link: feedLink(bytes)
        case .control: feedControl(bytes)
        case .srtp: feedSRTP(bytes)
        case .configuration: feedRelayFile(bytes)
        case .relay: feedRelay(bytes)
        case .channel: feedChannel(bytes)
        case .icy: feedICY(bytes)
        case .playlist: feedPlaylist(bytes)
        case .hls: feedHLS(bytes)
        case .cue: feedCueSheet(bytes)
        case .ogg: feedOgg(bytes)
        case .wav: feedWAV(bytes)
        case .tags: feedTags(bytes)
        case .frames: feedFrames(bytes)
        case .places: feedPlaces(bytes)
        case .response: feedResponse(bytes)
        case .request: feedRequest(bytes)
        case .live: feedLive(bytes)
        case .terminal: feedTerminal(bytes)
        case .command: feedRequestLine(bytes)
        case .input: feedInput(bytes)
        case .hid: feedHID(bytes)
        case .recording: feedRecording(bytes)
        case .transmissions: feedTransmissions(bytes)
        case .pairing: feedPairing(bytes)
        case .call: feedCall(bytes)
        case .lobby: feedLobby(bytes)
        case .floor: feedFloor(bytes)
        case .doctor: feedDoctor(bytes)
        case .application: feedApplicationPackets(bytes)
        case .filters: feedFilters(bytes)
        case .identity: feedIdentity(bytes)
        case .roster: feedRoster(bytes)
        case .rosterchange: feedRosterChange(bytes)
        case .prekey: feedPrekey(bytes)
        case .deposit: feedDeposit(bytes)
        case .announcement: feedSignedAnnouncement(bytes)
        case .cluster: feedCluster(bytes)
        case .rendezvous: feedRendezvous(bytes)
        }
    }
}

private func feedRTP(_ bytes: Span<UInt8>) {
    guard var header = try? RTPHeader(parsing: bytes) else { return }
    precondition(header.payload.lowerBound >= RTPHeader.byteCount && header.payload.upperBound <= bytes.count)
    precondition(header.payloadType < 128)
    let written = [UInt8](capacity: RTPHeader.byteCount) { header.write(into: &$0) }
    header.payload = RTPHeader.byteCount..<RTPHeader.byteCount
    precondition((try? RTPHeader(parsing: written.span)) == header)
}

private func feedRTCP(_ bytes: Span<UInt8>) {
    guard var packets = try? RTCPCompound(parsing: bytes, allowsReducedSize: true) else { return }
    for _ in 0...(bytes.count / 4) {
        do {
            guard let packet = try packets.next() else { return }
            check(packet, within: bytes.count)
        } catch {
            // This packet is malformed, but the next packets may be valid.
        }
    }
    preconditionFailure("more packets than there can be headers")
}

private func check(_ packet: RTCPPacket, within byteCount: Int) {
    let written: [UInt8]
    switch packet {
    case .senderReport(let report):
        for block in report.blocks { _ = block.roundTrip(receivedAt: report.time) }
        written = [UInt8](capacity: report.byteCount) { report.write(into: &$0) }
        precondition(written.count == report.byteCount)
    case .receiverReport(let report):
        written = [UInt8](capacity: report.byteCount) { report.write(into: &$0) }
        precondition(written.count == report.byteCount)
    case .sourceDescription(let description):
        for chunk in description.chunks { for item in chunk.items { checkShown(item.text) } }
        written = [UInt8](capacity: description.byteCount) { description.write(into: &$0) }
        precondition(written.count == description.byteCount)
    case .goodbye(let goodbye):
        checkShown(goodbye.reason ?? "")
        written = [UInt8](capacity: goodbye.byteCount) { goodbye.write(into: &$0) }
        precondition(written.count == goodbye.byteCount)
        // Text that is not UTF-8 grows when invalid bytes are replaced. It may then be truncated, and reads
        // differently.
        guard (goodbye.reason ?? "").utf8.count <= 255 else { return }
    case .genericNACK(let nack):
        // Sequence numbers that are duplicated or unordered take a different number of bytes when written again.
        guard nack.sequenceNumbers.count <= 64 else { return }
        let bytes = [UInt8](capacity: nack.byteCount) { nack.write(into: &$0) }
        precondition(bytes.count == nack.byteCount)
        let read = firstPacket(of: bytes.span)
        guard case .genericNACK(let again) = read else { preconditionFailure("no NACK") }
        precondition(Set(again.sequenceNumbers) == Set(nack.sequenceNumbers))
        return
    case .extendedReport(let report):
        for case .lossRLE(let loss) in report.blocks {
            let summary = loss.summary
            precondition(summary.lossCount <= summary.packetCount && summary.packetCount <= loss.count)
            precondition(summary.burstCount <= summary.lossCount)
        }
        written = [UInt8](capacity: report.byteCount) { report.write(into: &$0) }
        precondition(written.count == report.byteCount)
    case .unknown(let unknown):
        precondition(unknown.body.lowerBound >= 4 && unknown.body.upperBound <= byteCount)
        return
    }
    precondition(firstPacket(of: written.span) == packet)
}

func firstPacket(of bytes: Span<UInt8>) -> RTCPPacket? {
    do {
        var packets = try RTCPCompound(parsing: bytes, allowsReducedSize: true)
        return try packets.next()
    } catch {
        preconditionFailure("what was written cannot be read: \(error)")
    }
}

private func feedSDP(_ bytes: Span<UInt8>) {
    let description: SessionDescription
    do {
        description = try SessionDescription(parsing: bytes)
    } catch {
        precondition(error.line >= 1)
        checkShown(error.description)
        return
    }
    precondition((1...SessionDescription.maximumFormatCount).contains(description.formats.count))
    checkShown(description.name)
    _ = description.controlPort
    _ = description.connection.isMulticast
    for format in description.formats {
        let parameters = OpusParameters(parsing: format.parameters ?? "")
        precondition(OpusParameters(parsing: parameters.text) == parameters)
    }
    let text = description.text()
    do {
        let again = try SessionDescription(parsing: text)
        precondition(again.text() == text)
    } catch {
        preconditionFailure("what was written cannot be read: \(error)")
    }
}

private func feedOpus(_ bytes: Span<UInt8>) {
    guard let packet = try? OpusPacket(parsing: bytes) else { return }
    precondition((1...48).contains(packet.count) && packet.frameCount <= OpusPacket.maximumFrameCount)
    var end = packet[0].offset
    var frameCount = FrameCount.zero
    for index in 0..<packet.count {
        precondition(packet[index].offset == end)
        precondition((0...OpusPacket.maximumFrameByteCount).contains(packet[index].byteCount))
        end += packet[index].byteCount
        frameCount += packet[index].frameCount
    }
    precondition(end + packet.paddingByteCount == bytes.count && frameCount == packet.frameCount)
}

/// Feeds packets of ten bytes each: sequence number, timestamp, and the time since the previous packet.
private func feedReception(_ bytes: Span<UInt8>) {
    var statistics = ReceptionStatistics(ssrc: SSRC(1))
    var now = Instant.start
    for start in stride(from: 0, to: bytes.count - 9, by: 10) {
        now = now + .nanoseconds(Int64(Int32(bitPattern: bytes.uint32(at: start + 6))) << 8)
        statistics.packetArrived(
            SequenceNumber(rawValue: bytes.uint16(at: start)),
            timestamp: RTPTimestamp(rawValue: bytes.uint32(at: start + 2)), at: now)
        precondition(statistics.expectedCount >= 1 && statistics.jitter.rawValue >= 0)
        guard start % 30 == 0, let block = statistics.reportBlock(at: now) else { continue }
        let report = ReceiverReport(ssrc: SSRC(2), blocks: [block])
        let written = [UInt8](capacity: report.byteCount) { report.write(into: &$0) }
        precondition(firstPacket(of: written.span) == .receiverReport(report))
    }
}

/// Feeds the bytes as a capture file, and as one packet of each link type.
private func feedCapture(_ bytes: Span<UInt8>) {
    if var reader = try? CaptureReader(bytes) {
        var end = 0
        while let packet = reader.next(in: bytes) {
            precondition(
                packet.bytes.lowerBound >= end && packet.bytes.upperBound <= bytes.count, "bytes of another packet")
            end = packet.bytes.upperBound
            _ = packet.time - .start
            check(packet, in: bytes)
        }
        precondition(reader.next(in: bytes) == nil)
        checkShown(reader.damage ?? "")
    }
    for type: UInt32 in [0, 1, 12, 14, 101, 105, 108, 113, 228, 229, 276] {
        check(
            CapturedPacket(
                time: .start, linkType: LinkType(rawValue: type), bytes: 0..<bytes.count, originalByteCount: bytes.count
            ),
            in: bytes)
    }
}

private func check(_ packet: CapturedPacket, in bytes: Span<UInt8>) {
    guard let datagram = try? CapturedDatagram(packet, in: bytes) else { return }
    precondition(datagram.payload.lowerBound >= packet.bytes.lowerBound + 8)
    precondition(datagram.payload.upperBound <= packet.bytes.upperBound)
    checkShown("\(datagram.source) \(datagram.destination)")
}

func checkShown(_ text: String) {
    for scalar in text.unicodeScalars {
        // ASCII is handled first, because looking up the general category is slow.
        let isControl = scalar.isASCII ? scalar.value < 0x20 || scalar.value == 0x7F : isControl(scalar)
        precondition(!isControl, "a control character would be shown")
    }
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
