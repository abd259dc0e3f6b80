public import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourFloor
internal import TenfourPacing
internal import TenfourPackets
public import TenfourRelayCore

/// Receives the messages of the other relays.
extension RelayCluster {
    /// A datagram that is to be forwarded to the members of this relay, and to nobody else.
    public struct Delivery: Hashable, Sendable {
        public var channel: ChannelIndex
        /// The number of the datagram's stream.
        public var stream: Int
        /// The position of the datagram in the message.
        public var range: Range<Int>
    }

    private static let retransmissionPrice = CellRateLimit.Price(perSecond: 200, most: 400)

    /// Handles a message that arrived on `subject`, which is one that the relay has subscribed to. Decrypts it in place.
    /// Returns the datagram in it that is to be forwarded; nil if there is none.
    public mutating func receive(
        _ message: inout [UInt8], on subject: String, into relay: inout Relay, at now: Instant
    ) -> Delivery? {
        guard let header = MessageHeader(parsing: message.span) else { return discard(.malformed) }
        if header.boot == boot { return nil }
        // A replay costs no decryption.
        if header.kind == .presence {
            guard header.counter > peers[header.boot]?.presenceCounter ?? 0 else { return discard(.replayed) }
        } else {
            guard peers.isPresent(header.boot) else { return discard(.stranger) }
            guard peers[header.boot]?.age.isRecent(header.counter, at: now) ?? false else { return discard(.replayed) }
        }
        guard let body = open(&message, header, on: subject, at: now) else { return nil }
        counts.receivedCount += 1
        counts.receivedByteCount += message.count
        defer { update(from: &relay, at: now) }
        if header.kind == .presence {
            presence(message.span.extracting(body), header, &relay, at: now)
            return nil
        }
        peers[header.boot]?.heardAt = now
        return read(header, message.span, body, on: subject, &relay, at: now)
    }

    /// Checks a message and decrypts it. A relay that is heard for the first time becomes a candidate, but only by
    /// PRESENCE with a right tag.
    private mutating func open(
        _ message: inout [UInt8], _ header: MessageHeader, on subject: String, at now: Instant
    ) -> Range<Int>? {
        do throws(MessageOpener.Failure) {
            if peers[header.boot] != nil { return try peers[header.boot]?.opener.open(&message, header, on: subject) }
            var opener = MessageOpener(key, boot: header.boot)
            let body = try opener.open(&message, header, on: subject)
            let peer = ClusterPeer(
                boot: header.boot, opener: opener, heardAt: now, subject: subjects.relay(header.boot))
            guard peers.insert(peer) else {
                counts.discards[.stranger, default: 0] += 1
                return nil
            }
            silenceDue = silenceDue ?? now + ClusterPeers.patience
            return body
        } catch {
            counts.discards[error == .replayed ? .replayed : .forged, default: 0] += 1
            return nil
        }
    }

    private mutating func discard(_ reason: ClusterDiscard) -> Delivery? {
        counts.discards[reason, default: 0] += 1
        return nil
    }

    private mutating func presence(
        _ body: Span<UInt8>, _ header: MessageHeader, _ relay: inout Relay, at now: Instant
    ) {
        let boot = header.boot
        guard let presence = RelayPresence(parsing: body), let known = peers[boot] else {
            _ = discard(.malformed)
            return
        }
        peers[boot]?.presenceCounter = header.counter
        peers[boot]?.presenceAt = now
        peers[boot]?.nonce = presence.nonce
        if known.nonce != presence.nonce { expectPresence(at: now) }
        let own = presence.heard.first { $0.boot == self.boot }
        let answered = own.flatMap { sentPresences.time(of: $0.counter, at: now) }
        if !known.isPresent {
            peers[boot]?.heardAt = now
            guard own?.nonce == nonce, answered != nil else { return }
            peers[boot]?.isPresent = true
            // The other relay may not know yet that this one is present.
            expectPresence(at: now)
        }
        // Not before the relay is present: what it sent before it was last gone is over, even if it is recent.
        if let own, let answered {
            peers[boot]?.roundTrip = max(now - answered - .microseconds(Int(own.age)), .zero)
            peers[boot]?.age.prove(header.counter, sentAfter: answered, at: now)
        }
        guard answered != nil || known.age.isRecent(header.counter, at: now) else {
            _ = discard(.replayed)
            return
        }
        peers[boot]?.heardAt = now
        let tags = Set(presence.tags)
        for tag in known.tags.subtracting(tags) {
            channels.changeInterest(in: tag, by: -1)
            // The last member has left: nobody is there, and nobody talks.
            if let channel = channels[tag: tag], channel.isOpen {
                relay.apply(ChannelState(), of: channel.index, from: boot, at: now)
            }
        }
        let added = tags.subtracting(known.tags)
        for tag in added {
            channels.changeInterest(in: tag, by: 1)
            // Without our answer to its nonce the relay ignores the state; `sendPresence` makes it due.
            guard known.repeatedNonce == presence.nonce, let index = channels[tag: tag]?.index else { continue }
            channels.expectState(of: index, at: now, isUrgent: true)
        }
        guard !added.isEmpty || tags.count != known.tags.count else { return }
        peers[boot]?.tags = tags
        for tag in known.tags.symmetricDifference(tags) { updateFloor(of: tag, &relay, at: now) }
    }

    private mutating func read(
        _ header: MessageHeader, _ message: Span<UInt8>, _ range: Range<Int>, on subject: String, _ relay: inout Relay,
        at now: Instant
    ) -> Delivery? {
        let body = message.extracting(range)
        switch header.kind {
        case .presence: return nil
        case .leaving:
            if let peer = peers.remove(header.boot) { isGone(peer, &relay, at: now) }
        case .datagram:
            guard let channel = openChannel(on: subject) else { return discard(.unknownChannel) }
            return deliver(body, range, in: channel.index, from: header.boot, &relay, at: now)
        case .state:
            guard let channel = openChannel(on: subject) else { return discard(.unknownChannel) }
            guard let state = ChannelState(parsing: body) else { return discard(.malformed) }
            guard header.counter > peers[header.boot]?.stateCounters[channel.tag] ?? 0 else {
                return discard(.replayed)
            }
            peers[header.boot]?.stateCounters[channel.tag] = header.counter
            relay.apply(state, of: channel.index, from: header.boot, at: now)
        case .retransmission:
            guard body.count > 8 else { return discard(.malformed) }
            guard let channel = channels[tag: body.number(at: 0)], channel.isOpen else {
                return discard(.unknownChannel)
            }
            let packet = range.lowerBound + 8..<range.upperBound
            return deliver(message.extracting(packet), packet, in: channel.index, from: header.boot, &relay, at: now)
        case .nack:
            guard let nack = ClusterNACK(parsing: body) else { return discard(.malformed) }
            retransmit(nack, to: header.boot, relay, at: now)
        case .report:
            guard let report = ClusterReport(parsing: body) else { return discard(.malformed) }
            guard let channel = channels[tag: report.tag] else { return discard(.unknownChannel) }
            relay.report(report.summary, about: report.ssrc, in: channel.index, from: header.boot, at: now)
        case .floor:
            guard let message = try? FloorRelayMessage(parsing: body) else { return discard(.malformed) }
            guard let channel = channels[tag: message.channel], channel.isOpen else { return discard(.unknownChannel) }
            let isInPlace = subject == (message.isForAllRelays ? channel.subject : subjects.relay(boot))
            guard isInPlace else { return discard(.malformed) }
            relay.receive(message, of: channel.index, from: header.boot, at: now)
        }
        return nil
    }

    /// The channel of a subject, if this relay has members of it.
    private func openChannel(on subject: String) -> ClusterChannel? {
        guard let tag = UInt64(subject.suffix(16), radix: 16), let channel = channels[tag: tag], channel.isOpen,
            channel.subject == subject
        else { return nil }
        return channel
    }

    private mutating func deliver(
        _ datagram: Span<UInt8>, _ range: Range<Int>, in channel: ChannelIndex, from boot: BootID,
        _ relay: inout Relay, at now: Instant
    ) -> Delivery? {
        guard case .forward(let stream) = relay.receive(datagram, of: channel, from: boot, at: now) else { return nil }
        return Delivery(channel: channel, stream: stream, range: range)
    }

    /// Sends the packets that another relay misses, as far as they are stored.
    private mutating func retransmit(
        _ nack: ClusterNACK, to boot: BootID, _ relay: borrowing Relay, at now: Instant
    ) {
        guard let channel = channels[tag: nack.tag], let subject = peers[boot]?.subject else { return }
        for number in nack.numbers {
            var body: [UInt8] = []
            relay.withPacket(number, of: nack.ssrc, in: channel.index, at: now) { packet in
                body = [UInt8](capacity: 8 + packet.count) {
                    $0.append(number: nack.tag)
                    $0.append(packet)
                }
            }
            guard !body.isEmpty, peers[boot]?.retransmissions.spend(Self.retransmissionPrice, at: now) ?? false else {
                continue
            }
            counts.retransmittedCount += 1
            send(.retransmission, body.span, on: subject)
        }
    }
}
