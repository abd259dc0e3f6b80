internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// From what the station sends to datagrams for the relay.
extension Channel {
    /// Returns why nothing goes out.
    mutating func sendMedia(_ datagram: Span<UInt8>, at now: Instant) -> ChannelDiscard? {
        guard configuration.role == .talk else { return .notTalking }
        guard let endpoint = session?.endpoint, let clocks = reading(at: now) else { return .beforeJoined }
        guard datagram.count <= RTPSession.maximumDatagramByteCount, let header = try? RTPHeader(parsing: datagram),
            header.payload.upperBound == datagram.count
        else { return .unsendable }
        if ssrc != header.ssrc { ssrc = header.ssrc }
        var isGood = true
        if talk.isSentAgain(header) {
            outbox.put(capacity: Self.maximumDatagramByteCount, to: endpoint) {
                isGood = talk.write(again: header.sequenceNumber, into: &$0, at: now)
                if isGood { isGood = session?.tagger.tag(&$0) ?? false }
                if !isGood { $0.removeAll() }
            }
            return isGood ? nil : .forgotten
        }
        talk.prepare(header, configuration, at: clocks, now, using: &generator, &ownEpochs)
        announce(to: endpoint, at: clocks.boot, now)
        outbox.put(capacity: Self.maximumDatagramByteCount, to: endpoint) {
            isGood = talk.seal(header, datagram, configuration, into: &$0, at: now)
            if isGood { isGood = session?.tagger.tag(&$0) ?? false }
            if !isGood { $0.removeAll() }
        }
        session?.keepalive.talkContinues(at: now)
        rejoinBeforeCounterEnds(at: now)
        return isGood ? nil : .unsendable
    }

    private mutating func announce(to endpoint: Endpoint, at boot: Instant, _ now: Instant) {
        let count = talk.announcementCount(at: now)
        for index in 0..<count {
            guard let announcement = talk.announcement(index, of: count, configuration, at: boot) else { continue }
            outbox.put(capacity: 128, to: endpoint) {
                ControlPacket.write(announcement, into: &$0)
                if session?.tagger.tag(&$0) != true { $0.removeAll() }
            }
        }
    }

    /// The session goes on until the new one is there.
    private mutating func rejoinBeforeCounterEnds(at now: Instant) {
        guard let counter = session?.tagger.counter, counter >= configuration.lastHopCounter, !joinHandshake.isActive
        else {
            return
        }
        joinHandshake.begin(at: now)
        advance(at: now)
    }

    mutating func sendReport(_ datagram: Span<UInt8>) -> ChannelDiscard? {
        guard let endpoint = session?.endpoint else { return .beforeJoined }
        guard datagram.count >= 8, datagram.count <= Record.maximumReportByteCount else { return .unsendable }
        outbox.put(capacity: ControlPacket.maximumByteCount, to: endpoint) {
            session?.sealer.seal(report: datagram, into: &$0)
        }
        return nil
    }
}
