internal import Engine
internal import Keys
internal import RTP
internal import Sound

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
        case .announcement(let announcement): return judge(announcement, at: now)
        case .unknownSession(let number):
            guard session?.number == number else { return .discarded(.unexpected) }
            session?.presence.doubt(at: now, using: &generator)
            advance(at: now)
            return .handled
        case .hello, .join, .taggedAnnouncement: return .discarded(.unexpected)
        }
    }

    private func isRelay(_ sender: Endpoint) -> Bool {
        session?.endpoint == sender || admission.isActive && admission.hasAsked(sender)
    }

    private mutating func judge(_ announcement: Announcement, at now: Instant) -> Reception {
        guard let clock = daytime?.clock(at: now) else { return .discarded(.offTime) }
        let root = configuration.keys.mediaRoot
        switch known.judge(announcement, under: root, ownSSRC: ssrc, at: clock) {
        case .new:
            talkers.begin(announcement, under: root)
            held.release(announcement.ssrc)
        case .known:
            if talkers.synchronize(announcement) { held.release(announcement.ssrc) }
        case .collision:
            tellOfCollision()
            return .handled
        case .older:
            guard talkers.beginOlder(announcement, under: root) else { return .handled }
            held.release(announcement.ssrc)
        case .own: return .handled
        case .offTime: return .discarded(.offTime)
        case .forged: return .discarded(.forged)
        }
        session?.presence.talkGoesOn(at: now)
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
        switch talkers.open(datagram, of: sender, depth: configuration.depth, into: &bytes, at: now) {
        case .opened(let byteCount):
            opened = (.media, 0..<byteCount)
            session?.presence.heardTalk(at: now)
            return .opened
        case .replayed: return .discarded(.replayed)
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
                kept.packet(place), of: sender, depth: configuration.depth, into: &bytes, at: lastInput)
            switch outcome {
            case .opened(let byteCount):
                held.remove(place)
                opened = (.media, 0..<byteCount)
                session?.presence.heardTalk(at: lastInput)
            case .replayed:
                held.remove(place)
                discards.count(.replayed)
            case .malformed:
                held.remove(place)
                discards.count(.malformed)
            case .unopened: break
            }
        }
    }
}
