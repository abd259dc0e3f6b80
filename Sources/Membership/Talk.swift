internal import Engine
internal import Keys
internal import RTP
internal import Sound

/// Our own stream: its epochs, what is announced of them, and its packets as they were sealed.
struct Talk: ~Copyable, Sendable {
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

    /// A new epoch after so long without a packet, and in any case after so long.
    static let longestSilence = Duration.seconds(60)
    static let epochLength = Duration.seconds(600)
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

    /// A packet is going to be sent: begins an epoch where that is due, and tells of each that it draws.
    mutating func prepare(
        _ header: RTPHeader, _ configuration: ChannelConfiguration, at clock: WallClock, _ now: Instant,
        using generator: inout SecretChance, _ known: inout KnownEpochs
    ) {
        let isSilentLong = lastPacket.map { now - $0 >= Self.longestSilence } ?? true
        if header.ssrc != current?.ssrc || isSilentLong {
            if header.ssrc != current?.ssrc { sealed.removeAll() }
            coming = nil
            comingContext = nil
            let epoch = draw(header.ssrc, from: header.sequenceNumber, at: clock, now, &generator, &known)
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
            let epoch = draw(header.ssrc, from: first, at: clock, now + Self.notice, &generator, &known)
            coming = epoch
            comingContext = epoch.context(configuration)
            lastAnnouncement = nil
        }
        if header.marker { announceAgain() }
        lastPacket = now
    }

    private mutating func draw(
        _ ssrc: SSRC, from first: SequenceNumber, at clock: WallClock, _ began: Instant,
        _ generator: inout SecretChance, _ known: inout KnownEpochs
    ) -> OwnEpoch {
        let epoch = Epoch(at: clock, random: .random(in: 0 ... .max, using: &generator), after: lastEpoch)
        lastEpoch = epoch
        known.begin(own: epoch)
        return OwnEpoch(ssrc: ssrc, epoch: epoch, first: first, began: began)
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
        _ index: Int, of count: Int, _ configuration: ChannelConfiguration, at clock: WallClock
    ) -> Announcement? {
        let isComing = count == 2 && index == 0
        return (isComing ? coming : current).map {
            Announcement(
                suite: configuration.suite, ssrc: $0.ssrc, epoch: $0.epoch, index: $0.index, at: clock,
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

/// One epoch of our stream.
struct OwnEpoch: Sendable {
    let ssrc: SSRC
    let epoch: Epoch
    /// Its first packet, which may not have gone out yet.
    let first: SequenceNumber
    let began: Instant
    private(set) var latest: PacketIndex?

    init(ssrc: SSRC, epoch: Epoch, first: SequenceNumber, began: Instant) {
        self.ssrc = ssrc
        self.epoch = epoch
        self.first = first
        self.began = began
    }

    func context(_ configuration: ChannelConfiguration) -> SRTPContext? {
        let key = configuration.keys.mediaRoot.masterKey(configuration.suite, ssrc: ssrc, epoch: epoch)
        return try? SRTPContext(sending: key, ssrc: ssrc)
    }

    /// What an announcement tells: of the latest packet, or of the first to come.
    var index: PacketIndex { latest ?? PacketIndex(rolloverCounter: 0, first) }

    mutating func sent(_ number: SequenceNumber) {
        latest = latest?.closest(number) ?? PacketIndex(rolloverCounter: 0, number)
    }
}
