internal import TenfourAudioCore
internal import TenfourPackets

// MARK: Received media
extension RTPSession {
    /// Reads media or RTCP.
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
        let media: ParsedMedia
        do throws(ParsedMedia.Failure) {
            media = try ParsedMedia(parsing: datagram, from: sender, configuration, unnamedStreams)
        } catch {
            switch error {
            case .discarded(let reason): return .discarded(reason)
            case .otherPayloadType(let header, let payloadType, let payload):
                if isNewlyOpus(header, payloadType, datagram.extracting(payload), from: sender, at: now) {
                    return readMedia(datagram, from: sender, at: now)
                }
                return readOther(header, of: datagram, from: sender, at: now)
            case .unreadable(var header, let encoding):
                // Counts invalid packets as received: about half of all encrypted payloads do not parse as Opus.
                if let index = members.index(of: header.ssrc),
                    members[index].continues(header, encoding, from: sender, at: now)
                {
                    _ = members[index].packetArrived(&header, encoding, nil, byteCount: datagram.count, at: now)
                }
                return .discarded(.malformedPayload)
            }
        }
        var header = media.header
        guard header.ssrc != ssrc else { return .discarded(receiveOwnSSRC(header, at: now)) }
        switch members.source(of: header, media.encoding, from: sender, schedule, &events, at: now) {
        case .refused(let reason): return .discarded(reason)
        case .source(let index):
            mediaArrives(at: index, from: sender, now)
            let origin = members[index].packetArrived(
                &header, media.encoding, media.frameCount, byteCount: datagram.count, hasWaited: hasWaited(at: now),
                at: now)
            if members[index].pacing.isNewlyTooFast() {
                events.post(.sourceSendsTooFast(header.ssrc, interval: media.frameCount.duration()))
            }
            if let toc = media.toc, !members[index].payloadDetector.accepts(toc) {
                if members[index].payloadDetector.isNewlyDoubted() { events.post(.sourceLooksEncrypted(header.ssrc)) }
                return .discarded(.looksEncrypted)
            }
            // The durations that encrypted packets seem to have say nothing about the clock.
            if !members[index].looksEncrypted, let rate = members[index].clock.newWrongRate() {
                events.post(.sourceClockIsWrong(header.ssrc, rate))
            }
            var packet = MediaPacket(
                header: header, sequenceNumber: members[index].numbering.number(of: header.sequenceNumber),
                payload: media.payload, frameCount: media.frameCount, encoding: media.encoding, origin: origin)
            packet.hasWaited = hasWaited(at: now)
            if let blocks = media.redundancy {
                members[index].addCopies(
                    blocks, of: datagram, header, into: &packet, accepting: configuration.acceptedPayloadTypes, at: now)
            }
            if members[index].transmission.isMissing { updateMissing(at: now) }
            requestLostPackets(of: index, at: now)
            nackRequester.updateDeadline(members.sources, configuration)
            scheduleInitialReport(to: index, at: now)
            return .media(packet)
        }
    }

    /// Inserts a packet of a payload type that is not accepted. Returns whether it proves that its stream is Opus.
    private mutating func isNewlyOpus(
        _ header: RTPHeader, _ payloadType: UInt8, _ payload: Span<UInt8>, from sender: Endpoint, at now: Instant
    ) -> Bool {
        guard header.ssrc != ssrc else { return false }
        let finding = unnamedStreams.insert(
            header, payloadType, payload, from: sender, isHeard: members.index(of: header.ssrc) != nil,
            recognises: configuration.recognisesOpus, at: now)
        switch finding {
        case .opus: events.post(.opusRecognised(header.ssrc, payloadType: payloadType, from: sender))
        case .unknown: events.post(.payloadTypeUnknown(header.ssrc, payloadType: payloadType, from: sender))
        case nil: break
        }
        return finding == .opus
    }

    /// Whether a packet that is read at `now` may have waited in the socket.
    private func hasWaited(at now: Instant) -> Bool {
        receptionStart.map { now - $0 < Self.backlogTime } ?? false
    }

    /// Reads a packet of another payload type than that of audio. Those of a source are received, not lost.
    private mutating func readOther(
        _ header: RTPHeader, of datagram: Span<UInt8>, from sender: Endpoint, at now: Instant
    ) -> Reception {
        guard let index = members.index(of: header.ssrc), members[index].continues(header, nil, from: sender, at: now)
        else {
            return .discarded(.unknownPayloadType)
        }
        members[index].otherPacketArrived(header, byteCount: datagram.count, at: now)
        // Telephone events have a dynamic payload type, which only a description of the session would tell.
        if header.payloadType >= 96, let event = TelephoneEvent(parsing: datagram.extracting(header.payload)) {
            if members[index].keys.isNew(event, timestamp: header.timestamp, at: now) {
                events.post(.keyPressed(header.ssrc, event))
            }
            return .withoutAudio
        }
        guard header.payloadType == RTPDefaults.comfortNoisePayloadType else { return .discarded(.unknownPayloadType) }
        guard members[index].encoding != .opus,
            let noise = ComfortNoise(parsing: datagram.extracting(header.payload))
        else { return .withoutAudio }
        return .comfortNoise(noise, after: members[index].numbering.number(of: header.sequenceNumber), header.ssrc)
    }

    private mutating func receiveOwnSSRC(_ header: RTPHeader, at now: Instant) -> DiscardReason {
        switch loopDetector.examine(header, at: now) {
        case .loop: return .loop
        case .collision(let needsNewSSRC):
            if needsNewSSRC { takeAnotherSSRC(at: now) }
            return .collision
        }
    }
}
