internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Decrypts the media of other members, and holds packets whose announcement has not arrived yet.
struct MediaOpener: ~Copyable, Sendable {
    private var talkers: Talkers
    private var held = HeldPackets()
    private var refusals = TimeRefusals()
    /// The refusal of media for its time of which the user must learn; nil if there is nothing new.
    private var refusal: TimeRefusal?

    /// The result of receiving a packet of media.
    enum Outcome {
        /// The packet was decrypted; the RTP packet has this many bytes.
        case opened(byteCount: Int)
        /// The packet is held until its announcement arrives. `pushedOut` is true if an earlier held packet was
        /// discarded to make room, or if there was no room and the new packet was discarded.
        case held(pushedOut: Bool)
        case discarded(ChannelDiscard)
    }

    init(using generator: inout some RandomNumberGenerator) { talkers = Talkers(using: &generator) }

    /// The limits on the age of packets; nil if our clock says nothing about it.
    var freshness: MediaFreshness? {
        get { talkers.freshness }
        set { talkers.freshness = newValue }
    }

    /// The number of held packets.
    var heldCount: Int { held.count }

    /// Decrypts a packet into `bytes`, which must have room for it. `suspended` is the time that the machine has slept
    /// since it was started.
    mutating func open(
        _ datagram: Span<UInt8>, into bytes: inout [UInt8], suspended: Duration, at now: Instant
    ) -> Outcome {
        // Discards packets that are too short, and RTCP: the relay sends RTCP only in records.
        guard datagram.count >= RTPHeader.byteCount, !RTCPCompound.isRTCP(secondByte: datagram[1]) else {
            return .discarded(.malformed)
        }
        let sender = SSRC(datagram.uint32(at: 8))
        switch talkers.open(datagram, of: sender, into: &bytes, at: now + suspended) {
        case .opened(let byteCount): return .opened(byteCount: byteCount)
        case .replayed: return .discarded(.replayed)
        case .late(let staleness):
            refusal = refusals.packetRefused(of: sender, staleness) ?? refusal
            return .discarded(.late)
        case .malformed: return .discarded(.malformed)
        case .unopened:
            refusal = refusals.packetUnopened(of: sender) ?? refusal
            let isAnnounced = talkers.knows(sender)
            return .held(pushedOut: !held.hold(datagram, of: sender, isAnnounced: isAnnounced, at: now))
        }
    }

    /// The result of handling an authentic announcement.
    enum AnnouncementOutcome {
        case accepted
        /// The announced epoch is older than the epoch that the talker uses.
        case older
        case discarded(ChannelDiscard)
    }

    /// Handles another member's announcement, which the caller has authenticated.
    mutating func announcementArrived(
        _ announcement: AnnouncedEpoch, of origin: EpochOrigin, at clocks: ClockReading
    ) -> AnnouncementOutcome {
        switch talkers.announcementArrived(announcement, of: origin, at: clocks) {
        case .begun:
            refusals.announcementAccepted(announcement.ssrc)
            held.release(announcement.ssrc)
            return .accepted
        case .known: return .accepted
        case .older: return .older
        case .offTime:
            let ahead = announcement.milliseconds - Int64(clamping: clocks.wall.sinceEpoch)
            refusals.announcementRefused(
                announcement.ssrc, ClockDifference(ahead: .milliseconds(ahead), isOwnUsed: clocks.isSynchronised))
            return .discarded(.offTime)
        case .full: return .discarded(.full)
        }
    }

    /// The member of a managed channel whose packet was decrypted last; nil in an open channel.
    var latest: (ssrc: SSRC, index: UInt16)? { talkers.latest }

    // MARK: - What is refused for its time

    var refusalCounts: TimeRefusalCounts { refusals.counts }

    /// The number of packets that somebody has put beside those of talkers under their SSRCs.
    var interferenceCount: Int { talkers.interferenceCount }

    /// Returns what the user must learn about media that is refused for its time, once; nil if there is nothing new.
    mutating func takeRefusal() -> TimeRefusal? {
        defer { refusal = nil }
        return refusal
    }

    /// Makes differences that remain be posted again, because the clock was set.
    mutating func clockWasSet() { refusals.clockWasSet() }

    /// Erases the keys of these origins.
    mutating func erase(where isErased: (EpochOrigin) -> Bool) { talkers.erase(where: isErased) }

    /// Decrypts the oldest held packet whose announcement has arrived, and writes it to `bytes`. Returns the length of
    /// the decrypted packet in bytes; nil if there is none. Packets that can no longer be decrypted are counted in
    /// `discards`.
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
            case .late(let staleness):
                refusal = refusals.packetRefused(of: sender, staleness) ?? refusal
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
