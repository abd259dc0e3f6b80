internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// From datagrams of the relay's to what the station understands.
extension Channel {
    mutating func read(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        guard !hasLeft, isRelay(sender) else { return .discarded(.stranger) }
        guard datagram.count >= 2, datagram.count <= Self.maximumDatagramByteCount else {
            return .discarded(.malformed)
        }
        if (128...191).contains(datagram[0]) { return readMedia(datagram, at: now) }
        guard let packet = try? ControlPacket(parsing: datagram) else { return .discarded(.malformed) }
        switch packet {
        case .cookie, .welcome, .refusal: return readAnswer(datagram, from: sender, at: now)
        case .record(let number): return readRecord(datagram, session: number, at: now)
        case .announcement(let announcement): return receiveAnnouncement(announcement, at: now)
        case .unknownSession(let number):
            guard session?.number == number else { return .discarded(.unexpected) }
            session?.keepalive.doubt(at: now, using: &generator)
            advance(at: now)
            return .handled
        case .hello, .join, .taggedAnnouncement: return .discarded(.unexpected)
        }
    }

    private func isRelay(_ sender: Endpoint) -> Bool {
        session?.endpoint == sender || joinHandshake.isActive && joinHandshake.hasTried(sender)
    }

    private mutating func receiveAnnouncement(_ announcement: Announcement, at now: Instant) -> Reception {
        let root = configuration.keys.mediaRoot
        guard announcement.isAuthentic(under: root) else { return .discarded(.forged) }
        guard !ownEpochs.contains(announcement.epoch) else { return .handled }
        guard let clocks = reading(at: now), announcement.isEpochOfItsTime else { return .discarded(.offTime) }
        if announcement.ssrc == ssrc {
            guard clocks.error(of: announcement) <= clocks.maximumError(of: announcement) else {
                return .discarded(.offTime)
            }
            reportCollision(at: now)
            return .handled
        }
        switch talkers.take(announcement, under: root, at: clocks) {
        case .begun: held.release(announcement.ssrc)
        case .known: break
        case .older: return .handled
        case .offTime: return .discarded(.offTime)
        case .full: return .discarded(.full)
        }
        session?.keepalive.talkContinues(at: now)
        openReleased()
        return opened == nil ? .handled : .opened
    }

    private mutating func readMedia(_ datagram: Span<UInt8>, at now: Instant) -> Reception {
        // What members say to each other is sound: reports come from the relay.
        guard datagram.count >= RTPHeader.byteCount, !RTCPCompound.isRTCP(secondByte: datagram[1]) else {
            return .discarded(.malformed)
        }
        let sender = SSRC(datagram.uint32(at: 8))
        opened = nil
        switch talkers.open(datagram, of: sender, into: &bytes, at: now + suspended) {
        case .opened(let byteCount):
            opened = (.media, 0..<byteCount)
            session?.keepalive.mediaReceived(at: now)
            return .opened
        case .replayed: return .discarded(.replayed)
        case .late: return .discarded(.late)
        case .malformed: return .discarded(.malformed)
        case .unopened:
            if !held.hold(datagram, of: sender, isAnnounced: talkers.knows(sender), at: now) {
                discards.count(.unopened)
            }
            return .held
        }
    }

    /// Opens the oldest of the packets whose announcement has come, if there is any.
    mutating func openReleased() {
        while opened == nil, let (place, sender, arrival) = held.nextReleased() {
            guard lastInput - arrival <= HeldPackets.memory else {
                held.remove(place)
                discards.count(.unopened)
                continue
            }
            let kept = held
            let outcome = talkers.open(
                kept.packet(place), of: sender, into: &bytes, at: arrival + suspended)
            switch outcome {
            case .opened(let byteCount):
                held.remove(place)
                opened = (.media, 0..<byteCount)
                session?.keepalive.mediaReceived(at: lastInput)
            case .replayed:
                held.remove(place)
                discards.count(.replayed)
            case .late:
                held.remove(place)
                discards.count(.late)
            case .malformed:
                held.remove(place)
                discards.count(.malformed)
            case .unopened: break
            }
        }
    }
}
