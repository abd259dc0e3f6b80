internal import TenfourAudioCore
internal import TenfourPackets

/// The payload of one of our packets: the Opus packet alone, or with copies of those before it (RFC 2198).
extension RTPSession {
    /// The copies that go out with the packet at `position`, the oldest first: those the defence asks for, as far as they
    /// are of the same talkspurt, fit into the datagram, and leave all payload within the bit rate.
    mutating func copies(
        beside payloadByteCount: Int, at position: FrameCount, startsTalkspurt: Bool, now: Instant
    ) -> [RecentPayloads.Entry] {
        payloadAllowance.charge(Double(payloadByteCount), at: now)
        guard !startsTalkspurt, !lossProtection.copies.isEmpty else { return [] }
        var chosen: [RecentPayloads.Entry] = []
        var byteCount = payloadByteCount + RedundantPayload.headerByteCount(copies: 0)
        for distance in lossProtection.copies {
            let age = FrameCount(distance * configuration.lossProtection.frameCount.rawValue)
            guard age <= RedundantPayload.maximumAge, let entry = recentPayloads.entry(at: position - age) else {
                continue
            }
            let extra = entry.byteCount + RedundantPayload.headerByteCount(copies: 1)
            guard byteCount + extra <= Self.maximumRedundantByteCount, payloadAllowance.spend(Double(extra), at: now)
            else {
                continue
            }
            byteCount += extra
            chosen.insert(entry, at: 0)
        }
        return chosen
    }

    mutating func putMedia(
        _ header: RTPHeader, _ payload: Span<UInt8>, with copies: [RecentPayloads.Entry], at position: FrameCount
    ) {
        let recentPayloads = recentPayloads
        let opus = configuration.payloadType
        let extra = copies.reduce(RedundantPayload.headerByteCount(copies: copies.count)) { $0 + $1.byteCount }
        outbox.putMedia(capacity: RTPHeader.byteCount + payload.count + extra, to: configuration.remotes) { datagram in
            header.write(into: &datagram)
            for copy in copies {
                RedundantPayload.writeHeader(
                    ofCopy: RedundantPayload.Block(
                        payloadType: opus, age: position - copy.position, byteCount: copy.byteCount),
                    into: &datagram)
            }
            if !copies.isEmpty { RedundantPayload.writeHeader(ofPrimary: opus, into: &datagram) }
            for copy in copies { recentPayloads.append(copy, to: &datagram) }
            for index in payload.indices { datagram.append(payload[index]) }
        }
    }

    /// Payload of a packet with copies: what an Ethernet frame carries, with room to spare.
    private static let maximumRedundantByteCount = 1_380
    /// What is saved up for, in seconds of the bit rate: an encoder spends more on one frame than on another.
    static let savedSeconds = 1.0
}
