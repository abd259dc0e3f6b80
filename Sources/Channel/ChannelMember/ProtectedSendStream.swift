internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourManagedChannel
internal import TenfourPackets
internal import TenfourSession

/// Our own stream: its epochs, their announcements, and its encrypted packets, which are kept for retransmission.
struct ProtectedSendStream: ~Copyable, Sendable {
    private var current: OwnEpoch?
    private var context: SRTPContext?
    /// The next epoch. It is announced already, but used only from its first packet on.
    private var coming: OwnEpoch?
    private var comingContext: SRTPContext?
    private var lastEpoch: Epoch?
    private var lastPacket: Instant?
    private var lastAnnouncement: Instant?
    /// The number of packets, beginning with the next one, that are each preceded by an announcement.
    private var announcedPacketsLeft = 0
    private var sealed = SentDatagrams()
    private var ownEpochs = OwnEpochs()

    /// The longest pause between two packets of one epoch. After a longer pause a new epoch begins.
    static let longestSilence = Duration.seconds(60)
    /// The time after which the next epoch begins, even if packets are sent without a pause.
    static let epochLength = Duration.seconds(600)
    /// The minimum duration of an epoch that was created while the clock was not synchronised. After this time, a new
    /// epoch begins as soon as the clock is synchronised.
    private static let shortestLength = Duration.seconds(10)
    /// The largest error of an epoch's clock with which the epoch goes on while the next one is announced. Receivers may refuse the
    /// packets of an epoch whose clock is 120 s wrong.
    private static let largestClockError = Duration.seconds(60)
    /// The time between the first announcement of the next epoch and the epoch's first packet.
    static let notice = Duration.seconds(2)
    /// The longest time between two announcements while packets are sent.
    static let announcementInterval = Duration.seconds(1)
    private static let announcedPacketCount = 5

    /// Whether a packet is a retransmission: its sequence number is not above the latest one sent.
    func isSentAgain(_ header: RTPHeader) -> Bool {
        guard let current, current.ssrc == header.ssrc, let latest = current.latest else { return false }
        return header.sequenceNumber.distance(after: latest.sequenceNumber) <= 0
    }

    /// Appends the encrypted packet with sequence number `number`, for a retransmission with the same bytes. Returns
    /// false, and appends nothing, if the packet is no longer stored.
    func write(again number: SequenceNumber, into datagram: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let entry = sealed.entry(number, at: now) else { return false }
        sealed.write(entry, into: &datagram)
        return true
    }

    /// Causes an announcement before each of the next five packets.
    mutating func announceAgain() { announcedPacketsLeft = Self.announcedPacketCount }

    /// Whether `epoch` is one of the latest 16 epochs that we have created.
    func hasDrawn(_ epoch: Epoch) -> Bool { ownEpochs.contains(epoch) }

    /// Erases the keys that follow from a former group secret. The next packet begins a new epoch if the one in use was
    /// under it.
    mutating func erase(_ secret: GroupSecretID) {
        if coming?.secret == secret {
            coming = nil
            comingContext = nil
        }
        if current?.secret == secret {
            current = nil
            context = nil
        }
    }

    /// Prepares for sending the packet with `header`: begins a new epoch if one is due, under `keys`.
    mutating func prepare(
        _ header: RTPHeader, _ configuration: ChannelConfiguration, _ keys: StreamKeys, at clocks: ClockReading,
        _ now: Instant, using generator: inout CSPRNG
    ) {
        let continuation = continuation(header, keys, at: clocks, now)
        if continuation == .nextEpochNow {
            if header.ssrc != current?.ssrc { sealed.removeAll() }
            coming = nil
            comingContext = nil
            configuration.drawAnew(&generator)
            let epoch = draw(header, keys, from: header.sequenceNumber, at: clocks, now, &generator)
            current = epoch
            context = epoch.context(configuration.suite)
            announceAgain()
        } else if let coming, coming.secret == keys.name?.secret {
            if header.sequenceNumber.distance(after: coming.first) >= 0 {
                current = coming
                self.coming = nil
                context = comingContext.take()
                announceAgain()
            }
        } else if continuation == .nextEpochSoon {
            let first = header.sequenceNumber.advanced(by: Int(Self.notice / configuration.frameCount.duration()))
            configuration.drawAnew(&generator)
            let epoch = draw(header, keys, from: first, at: clocks, now + Self.notice, &generator)
            coming = epoch
            comingContext = epoch.context(configuration.suite)
            lastAnnouncement = nil
        }
        if header.marker { announceAgain() }
        lastPacket = clocks.boot
    }

    /// Returns whether a new epoch must begin with the packet with `header`, or be announced before it.
    private mutating func continuation(
        _ header: RTPHeader, _ keys: StreamKeys, at clocks: ClockReading, _ now: Instant
    ) -> OwnEpoch.Continuation {
        guard let current, header.ssrc == current.ssrc, let lastPacket else { return .nextEpochNow }
        let hasOldSecret = current.secret != keys.name?.secret
        if hasOldSecret, keys.replacesAtOnce { return .nextEpochNow }
        if clocks.boot - lastPacket >= Self.longestSilence { return .nextEpochNow }
        let age = now - current.began
        let isNewlySynchronised = clocks.isSynchronised && !current.isSynchronised && age >= Self.shortestLength
        let continuation = self.current?.continuation(header, at: clocks) ?? .nextEpochNow
        guard continuation == .sameEpoch else { return continuation }
        if isNewlySynchronised, header.marker || current.clockError(at: clocks) > Self.largestClockError {
            return .nextEpochNow
        }
        let isNextEpochDue = hasOldSecret || isNewlySynchronised || age >= Self.epochLength - Self.notice
        return isNextEpochDue ? .nextEpochSoon : .sameEpoch
    }

    private mutating func draw(
        _ header: RTPHeader, _ keys: StreamKeys, from first: SequenceNumber, at clocks: ClockReading, _ began: Instant,
        _ generator: inout CSPRNG
    ) -> OwnEpoch {
        let epoch = Epoch(
            at: clocks.wall, timing: .init(timestamp: header.timestamp, isSynchronised: clocks.isSynchronised),
            random: .random(in: 0 ... .max, using: &generator), after: lastEpoch)
        lastEpoch = epoch
        ownEpochs.insert(epoch)
        return OwnEpoch(header, epoch, keys, first: first, began: began, at: clocks)
    }

    /// Returns the number of announcements to send before the prepared packet, 0…2.
    mutating func announcementCount(at now: Instant) -> Int {
        if announcedPacketsLeft > 0 {
            announcedPacketsLeft -= 1
        } else if let lastAnnouncement, now - lastAnnouncement < Self.announcementInterval {
            return 0
        }
        lastAnnouncement = now
        return coming == nil ? 1 : 2
    }

    /// Appends announcement `index` of `count`. The announcement of the epoch in use is the last one, because the relay
    /// sends the latest announcement to members that join. Returns false if there is none.
    func announce(
        _ index: Int, of count: Int, _ suite: SRTPSuite, _ keys: StreamKeys, at boot: Instant,
        into datagram: inout OutputSpan<UInt8>
    ) -> Bool {
        guard let epoch = count == 2 && index == 0 ? coming : current else { return false }
        epoch.announce(suite, keys, at: boot, into: &datagram)
        return true
    }

    /// Appends the prepared packet, padded and encrypted. Returns false if the packet cannot be encrypted; `datagram`
    /// must then be discarded.
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

    /// The maximum length in bytes of a padded packet without its SRTP tag. The datagram then fits into an Ethernet
    /// frame with all headers.
    private static let maximumPaddedByteCount = 1_424
}
