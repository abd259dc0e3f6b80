internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets
internal import TenfourSession

/// Handles the RTCP of members, which the relay does not forward: it summarizes the reports for the talker, retransmits
/// missing packets, and answers reference times (RFC 3611 section 4.4).
extension Relay {
    /// Handles a compound RTCP packet of a member. `range` is its position in `opened`, the decrypted record.
    mutating func report(_ range: Range<Int>, from member: MemberID, at now: Instant) -> Reception {
        let wordCount = GenericNACK.wordCount(in: opened.span.extracting(range))
        guard nacks.spend(sessions[member].endpoint.address, wordCount: wordCount, at: now) else {
            return .discarded(.tooManyNACKs)
        }
        var packets: [RTCPPacket] = []
        var isWhole = true
        guard var compound = try? RTCPCompound(parsing: opened.span.extracting(range), allowsReducedSize: true) else {
            return .discarded(.malformedRecord)
        }
        while true {
            do {
                guard let packet = try compound.next() else { break }
                packets.append(packet)
            } catch {
                isWhole = false
            }
        }
        let capabilities = packets.lazy.compactMap(\.capabilities).first
        for packet in packets { read(packet, capabilities, from: member, at: now) }
        echoClock(packets, of: member, at: now)
        return isWhole ? .handled : .discarded(.malformedRecord)
    }

    private mutating func read(
        _ packet: RTCPPacket, _ capabilities: Capabilities?, from member: MemberID, at now: Instant
    ) {
        switch packet {
        case .senderReport(let report):
            if let index = ownStream(of: member, report.ssrc) {
                talkers[index]?.stream?.counts.reception.senderReportArrived(report, at: now)
            }
            record(report.blocks, capabilities, from: member, at: now)
        case .receiverReport(let report): record(report.blocks, capabilities, from: member, at: now)
        case .sourceDescription(let description):
            for chunk in description.chunks {
                guard let index = ownStream(of: member, chunk.ssrc), let name = chunk[.name]?.text else { continue }
                if talkers[index]?.name != name { stateChanged(in: sessions[member].channel) }
                talkers[index]?.name = name
            }
        case .goodbye(let goodbye):
            guard let index = sessions[member].talker, let claim = talkers[index]?.claim,
                goodbye.sources.contains(claim)
            else { return }
            release(index, at: now)
        case .genericNACK(let nack): retransmit(nack, of: member, at: now)
        case .extendedReport, .unknown: break
        }
    }

    private func ownStream(of member: MemberID, _ ssrc: SSRC) -> TalkerIndex? {
        guard let index = sessions[member].talker, talkers[index]?.stream?.ssrc == ssrc else { return nil }
        return index
    }

    /// Returns the talker that sends with `ssrc` in the channel of `member`. Returns nil for an unknown SSRC, for a
    /// silent talker, and for `member` itself.
    private func stream(of ssrc: SSRC, heardBy member: MemberID) -> TalkerIndex? {
        let channel = sessions[member].channel
        guard let talker = ssrcs[ssrc]?.first(where: { sessions[$0].channel == channel }), talker != member,
            let index = sessions[talker].talker, talkers[index]?.stream != nil
        else { return nil }
        return index
    }

    private mutating func record(
        _ blocks: [ReportBlock], _ capabilities: Capabilities?, from member: MemberID, at now: Instant
    ) {
        for block in blocks {
            let view = ListenerView(block.fractionLost, capabilities, at: now)
            if let index = stream(of: block.ssrc, heardBy: member) {
                talkers[index]?.stream?.views[member] = view
            } else {
                remotes.report(view, of: member, about: block.ssrc, in: sessions[member].channel)
            }
        }
    }

    /// Retransmits the packets that a NACK names, to this member only, and as far as `PacketRing` still stores them. A
    /// member receives at most one retransmission for every two packets that its channel has forwarded, with a burst of
    /// 50 packets.
    private mutating func retransmit(_ nack: GenericNACK, of member: MemberID, at now: Instant) {
        let channel = sessions[member].channel
        let own = stream(of: nack.media, heardBy: member).flatMap { talkers[$0]?.stream?.ring }
        guard let ring = own ?? remotes[nack.media, in: channel]?.stream?.ring else { return }
        let forwarded = Int64(channels[channel]?.status.forwardedCount ?? 0)
        retransmissions.forget(before: now - PacketRing.memory)
        for number in nack.sequenceNumbers {
            guard let packet = ring.packet(number, at: now) else { continue }
            guard retransmissions.hasRoom else { return }
            guard
                sessions[member].retransmits.spend(
                    Self.retransmissionCost, most: Self.maximumRetransmissionCost, at: forwarded)
            else {
                return
            }
            ring.withBytes(packet) {
                retransmissions.put(repeated: $0, for: member, of: &sessions, at: packet.arrival)
            }
            channels[channel]?.status.retransmittedCount += 1
        }
    }

    /// The number of packets that must be forwarded in the channel for each retransmission to a member.
    private static let retransmissionCost: Int64 = 2
    private static let maximumRetransmissionCost: Int64 = 2 * 50

    private static let echoPrice = CellRateLimit.Price(perSecond: 4, most: 8)

    /// Answers the first reference time (RFC 3611 section 4.4) in a member's packets, at most 4 times per second with a
    /// burst of 8, because the answer is several times as long as the request.
    private mutating func echoClock(_ packets: [RTCPPacket], of member: MemberID, at now: Instant) {
        for case .extendedReport(let report) in packets {
            for case .referenceTime(let time) in report.blocks {
                guard sessions[member].echoes.spend(Self.echoPrice, at: now) else { return }
                return echo(time, of: report.sender, to: member)
            }
        }
    }

    /// Answers a member's reference time, so that the member can measure the round-trip time of a retransmission. The
    /// answer consists of reports with the SSRCs of the talkers that the member hears. `teller` is the SSRC that sent
    /// the reference time. The reports also contain the talkers' names, and the capability to answer NACKs.
    private mutating func echo(_ time: NTPTime, of teller: SSRC, to member: MemberID) {
        var report: [UInt8] = []
        for (ssrc, name) in heard(by: member, most: Self.maximumEchoCount) {
            let description = SourceDescription(
                ssrc: ssrc, canonicalName: Self.canonicalName, name: name,
                extensions: [Capabilities(supportsNACK: true).item].compactMap { $0 })
            let echo = ExtendedReport(
                sender: ssrc, blocks: [.echoes([TimeEcho(teller: teller, time: time.short, delay: .zero)])])
            let receiverReport = ReceiverReport(ssrc: ssrc)
            let byteCount = receiverReport.byteCount + description.byteCount + echo.byteCount
            guard report.count + byteCount <= Record.maximumReportByteCount else { break }
            report.append(addingCapacity: byteCount) {
                receiverReport.write(into: &$0)
                description.write(into: &$0)
                echo.write(into: &$0)
            }
        }
        if !report.isEmpty { outbox.put(report: report.span, for: member, of: &sessions) }
    }

    private static let maximumEchoCount = 4
}

extension RTCPPacket {
    /// The loss-protection capabilities that the sender states in its source description; nil if there are none.
    fileprivate var capabilities: Capabilities? {
        guard case .sourceDescription(let description) = self else { return nil }
        return description.chunks.lazy.compactMap { Capabilities($0) }.first
    }
}

extension GenericNACK {
    /// The number of NACK words in a compound packet, counted from the packet headers alone.
    static func wordCount(in compound: Span<UInt8>) -> Int {
        var (start, count) = (0, 0)
        while start + 4 <= compound.count {
            let words = Int(compound.uint16(at: start + 2)) + 1
            if compound[start + 1] == 205, compound[start] & 31 == 1 { count += max(words - 3, 0) }
            start += words * 4
        }
        return count
    }
}
