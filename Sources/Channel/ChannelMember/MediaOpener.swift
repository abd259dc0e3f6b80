internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Opens the media of other members, and holds packets whose announcement has not come yet.
struct MediaOpener: ~Copyable, Sendable {
    private var talkers = Talkers()
    private var held = HeldPackets()

    /// The result of receiving a packet of media.
    enum Outcome {
        /// The opened RTP packet has this many bytes.
        case opened(byteCount: Int)
        /// Kept until its announcement comes. `pushedOut` if another packet was discarded for it.
        case held(pushedOut: Bool)
        case discarded(ChannelDiscard)
    }

    /// How many packets are held.
    var heldCount: Int { held.count }

    /// Opens a packet into `bytes`, which has room for it. `suspended` is how long the machine has slept.
    mutating func open(
        _ datagram: Span<UInt8>, into bytes: inout [UInt8], suspended: Duration, at now: Instant
    ) -> Outcome {
        // RTCP comes from the relay, in records.
        guard datagram.count >= RTPHeader.byteCount, !RTCPCompound.isRTCP(secondByte: datagram[1]) else {
            return .discarded(.malformed)
        }
        let sender = SSRC(datagram.uint32(at: 8))
        switch talkers.open(datagram, of: sender, into: &bytes, at: now + suspended) {
        case .opened(let byteCount): return .opened(byteCount: byteCount)
        case .replayed: return .discarded(.replayed)
        case .late: return .discarded(.late)
        case .malformed: return .discarded(.malformed)
        case .unopened:
            let isAnnounced = talkers.knows(sender)
            return .held(pushedOut: !held.hold(datagram, of: sender, isAnnounced: isAnnounced, at: now))
        }
    }

    /// The result of receiving an authentic announcement.
    enum AnnouncementOutcome {
        case accepted
        /// The epoch is from before the one in use.
        case older
        case discarded(ChannelDiscard)
    }

    /// Takes an authentic announcement of another member.
    mutating func announcementArrived(
        _ announcement: Announcement, under root: MediaRoot, at clocks: ClockReading
    ) -> AnnouncementOutcome {
        switch talkers.announcementArrived(announcement, under: root, at: clocks) {
        case .begun:
            held.release(announcement.ssrc)
            return .accepted
        case .known: return .accepted
        case .older: return .older
        case .offTime: return .discarded(.offTime)
        case .full: return .discarded(.full)
        }
    }

    /// Opens the oldest packet whose announcement has come into `bytes`; returns its byte count, or nil if there is none.
    /// Packets that cannot be opened any more are counted in `discards`.
    mutating func openReleased(
        into bytes: inout [UInt8], suspended: Duration, counting discards: inout ChannelDiscardCounts, at now: Instant
    ) -> Int? {
        while let (place, sender, arrival) = held.nextReleased() {
            guard now - arrival <= HeldPackets.memory else {
                held.remove(place)
                discards.count(.unopened)
                continue
            }
            let kept = held
            switch talkers.open(kept.packet(place), of: sender, into: &bytes, at: arrival + suspended) {
            case .opened(let byteCount):
                held.remove(place)
                return byteCount
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
        return nil
    }
}
