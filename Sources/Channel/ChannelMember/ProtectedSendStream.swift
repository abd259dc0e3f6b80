internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// Our own stream: its epochs, what is announced of them, and its packets as they were sealed.
struct ProtectedSendStream: ~Copyable, Sendable {
    private var current: OwnEpoch?
    private var context: SRTPContext?
    /// Announced, and used from its first packet on.
    private var coming: OwnEpoch?
    private var comingContext: SRTPContext?
    private var lastEpoch: Epoch?
    private var lastPacket: Instant?
    private var lastAnnouncement: Instant?
    /// With so many packets more an announcement goes out.
    private var announcedPacketsLeft = 0
    private var sealed = SentDatagrams()
    private var ownEpochs = OwnEpochs()

    /// A new epoch after so long without a packet, and in any case after so long.
    static let longestSilence = Duration.seconds(60)
    static let epochLength = Duration.seconds(600)
    /// An epoch drawn before the clock was synchronised is replaced when it is this old.
    private static let shortestLength = Duration.seconds(10)
    /// So long before its first packet it is announced.
    static let notice = Duration.seconds(2)
    static let announcementInterval = Duration.seconds(1)
    private static let announcedPacketCount = 5

    /// Whether a packet is one that went out before.
    func isSentAgain(_ header: RTPHeader) -> Bool {
        guard let current, current.ssrc == header.ssrc, let latest = current.latest else { return false }
        return header.sequenceNumber.distance(after: latest.sequenceNumber) <= 0
    }

    /// The packet as it was; nothing where it is forgotten. Returns whether it is not.
    func write(again number: SequenceNumber, into datagram: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let entry = sealed.entry(number, at: now) else { return false }
        sealed.write(entry, into: &datagram)
        return true
    }

    /// With the next packets announcements go out: the relay does not know us, or not any more.
    mutating func announceAgain() { announcedPacketsLeft = Self.announcedPacketCount }

    /// Whether an epoch is one of ours.
    func hasDrawn(_ epoch: Epoch) -> Bool { ownEpochs.contains(epoch) }

    /// Prepares a packet: begins an epoch if one is due.
    mutating func prepare(
        _ header: RTPHeader, _ configuration: ChannelConfiguration, at clocks: ClockReading, _ now: Instant,
        using generator: inout CSPRNG
    ) {
        if isNewEpochDue(header, at: clocks, now) {
            if header.ssrc != current?.ssrc { sealed.removeAll() }
            coming = nil
            comingContext = nil
            let epoch = draw(header, from: header.sequenceNumber, at: clocks, now, &generator)
            current = epoch
            context = epoch.context(configuration)
            announceAgain()
        } else if let coming {
            if header.sequenceNumber.distance(after: coming.first) >= 0 {
                current = coming
                self.coming = nil
                context = comingContext.take()
                announceAgain()
            }
        } else if let current, now - current.began >= Self.epochLength - Self.notice {
            let first = header.sequenceNumber.advanced(by: Int(Self.notice / configuration.frameCount.duration()))
            let epoch = draw(header, from: first, at: clocks, now + Self.notice, &generator)
            coming = epoch
            comingContext = epoch.context(configuration)
            lastAnnouncement = nil
        }
        if header.marker { announceAgain() }
        lastPacket = clocks.boot
    }

    /// Whether the packet is to be the first of an epoch, without notice.
    private mutating func isNewEpochDue(_ header: RTPHeader, at clocks: ClockReading, _ now: Instant) -> Bool {
        guard let current, header.ssrc == current.ssrc, let lastPacket else { return true }
        if clocks.boot - lastPacket >= Self.longestSilence { return true }
        if clocks.isSynchronised, !current.isSynchronised, now - current.began >= Self.shortestLength { return true }
        return self.current?.hasFallenBehind(header, at: clocks) ?? true
    }

    private mutating func draw(
        _ header: RTPHeader, from first: SequenceNumber, at clocks: ClockReading, _ began: Instant,
        _ generator: inout CSPRNG
    ) -> OwnEpoch {
        let epoch = Epoch(
            at: clocks.wall, timing: .init(timestamp: header.timestamp, isSynchronised: clocks.isSynchronised),
            random: .random(in: 0 ... .max, using: &generator), after: lastEpoch)
        lastEpoch = epoch
        ownEpochs.insert(epoch)
        return OwnEpoch(header, epoch, first: first, began: began, at: clocks)
    }

    /// How many announcements go out before the packet that was prepared.
    mutating func announcementCount(at now: Instant) -> Int {
        if announcedPacketsLeft > 0 {
            announcedPacketsLeft -= 1
        } else if let lastAnnouncement, now - lastAnnouncement < Self.announcementInterval {
            return 0
        }
        lastAnnouncement = now
        return coming == nil ? 1 : 2
    }

    /// The announcement `index` of so many. The one in use comes last: it is what the relay tells those who join now.
    func announcement(
        _ index: Int, of count: Int, _ configuration: ChannelConfiguration, at boot: Instant
    ) -> Announcement? {
        let isComing = count == 2 && index == 0
        return (isComing ? coming : current).map {
            Announcement(
                suite: configuration.suite, ssrc: $0.ssrc, epoch: $0.epoch, index: $0.index, at: $0.clock(at: boot),
                under: configuration.keys.mediaRoot)
        }
    }

    /// Writes the packet that was prepared, padded and sealed. Returns false, and has written what is worth nothing,
    /// where that cannot be.
    mutating func seal(
        _ header: RTPHeader, _ packet: Span<UInt8>, _ configuration: ChannelConfiguration,
        into datagram: inout OutputSpan<UInt8>, at now: Instant
    ) -> Bool {
        for index in packet.indices { datagram.append(packet[index]) }
        configuration.sizes.pad(&datagram, payload: header.payload.count, limit: Self.maximumPaddedByteCount)
        do throws(SRTPError) {
            try context?.protect(&datagram)
        } catch {
            return false
        }
        current?.sent(header.sequenceNumber)
        sealed.keep(header.sequenceNumber, datagram.span, at: now)
        return context != nil
    }

    /// Longer than this no packet is made: with tags, and headers below, it still fits into one of Ethernet's.
    private static let maximumPaddedByteCount = 1_424
}
