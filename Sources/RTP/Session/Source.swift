public import TenfourAudioCore
public import TenfourPackets

/// A source of media: its address, its name, and statistics of its packets.
public struct Source: Sendable {
    public let ssrc: SSRC
    /// The endpoint from which the source's last media packet arrived.
    public internal(set) var endpoint: Endpoint
    public internal(set) var reception: ReceptionStatistics
    /// The name that the source states, safe to display.
    public internal(set) var name: String?
    /// The source's capabilities against loss; nil if it has not stated them.
    public internal(set) var capabilities: Capabilities?
    /// Counts of requests, retransmissions and copies of the source's packets.
    public internal(set) var recovery = RecoveryCounts()
    /// The number of bytes in the source's RTP packets, headers included.
    public private(set) var receivedByteCount = 0
    /// The time of the source's last packet or report.
    public internal(set) var lastHeard: Instant
    /// The time of the source's first packet.
    let firstPacket: Instant
    /// The time of the source's last packet.
    private(set) var lastPacket: Instant
    /// The time of the source's first packet or report, whichever arrived first.
    var since: Instant
    /// The time of the first packet after the source's last pause. A source pauses when its microphone is closed.
    private var sendingSince: Instant
    /// The reason in the source's BYE, and the time of its arrival; nil before a BYE.
    private(set) var goodbye: (reason: String, at: Instant)?
    private var hasReported = false
    /// Whether our first report to the source was sent or is scheduled.
    var hasInitialReport = false
    /// The number of bytes received from `endpoint` less the number of bytes sent to it. A source that is not a
    /// configured remote gets no more bytes than it sent, so a forged address cannot be used to amplify traffic.
    private var credit = 0

    var trace = ArrivalTrace()
    var payloadDetector = EncryptedPayloadDetector()
    /// The encoding of the newest packet.
    public var encoding: AudioEncoding { clock.encoding }
    var clock = SourceClock()
    var numbering = AudioNumbering()
    var keys = PressedKeys()
    var played = PlayedShare()
    /// The proportion of due audio that was not played lately. Pauses do not count.
    private var unheard = PlayedShare(memory: unheardMemory)
    /// A talker whose audio is all late learns it with the next report, within three seconds.
    private static let unheardMemory = Duration.milliseconds(1_500)
    /// The time before which playout is not counted, because it belongs to a pause.
    private var unheardBegin = Instant.start
    var transmission = StatedTransmission()
    private var stated = StatedPackets()
    /// The number of last reports that we have sent after the source's BYE.
    private var lastReportCount = 0
    /// Whether packets have arrived after our last report.
    private var hasLatePackets = false
    var collision = CollisionDetector()
    var pacing = PacingDetector()

    /// The pause after which a source may continue from another address, or be removed from a full table. Opus is
    /// silent for at most 400 ms within a talkspurt.
    static let longestPause = Duration.milliseconds(500)
    /// The time without packets after which a source that never reported is removed. A source that reports is removed
    /// after five report intervals (RFC 3550 section 6.3.5).
    private static let timeout = Duration.seconds(10)
    /// The time after a BYE at which the source is removed: the BYE may have overtaken its last packets.
    private static let grace = Duration.milliseconds(200)
    /// The number of packets by which a sequence number may be ahead of the expected one: a second of packets of 20 ms.
    private static let spareStep = 50
    /// The time by which a timestamp may be ahead of the expected one: 1 s. The packet before may have been held back.
    private static let spareTime = FrameCount(48_000)
    /// The maximum delay of a copy of the stream on another path: 250 ms.
    private static let latestCopy = FrameCount(12_000)
    /// The maximum number of reports that answer a BYE: an attacker at the source's address could repeat it.
    private static let maximumLastReportCount = 3
    /// The maximum of `credit`, in bytes. Further received bytes are not counted.
    private static let maximumCredit = 65_536

    init(ssrc: SSRC, endpoint: Endpoint, at now: Instant) {
        self.ssrc = ssrc
        self.endpoint = endpoint
        lastHeard = now
        firstPacket = now
        lastPacket = now
        since = now
        sendingSince = now
        reception = ReceptionStatistics(ssrc: ssrc)
    }

    func participant(at now: Instant) -> Participant {
        let isSending = now - lastPacket < Participant.pause
        return Participant(
            ssrc: ssrc, name: name, endpoint: endpoint, since: since, isSending: isSending,
            isMissing: transmission.isMissing, outage: transmission.outage(at: now),
            sendingChanged: isSending ? sendingSince : lastPacket)
    }

    /// Returns whether a packet of audio from `sender` belongs to this source. The source may move to another address,
    /// but not while packets from the old address still arrive. If they do, another participant has chosen the same
    /// SSRC, and the first one is kept (RFC 3550 section 8.2).
    ///
    /// A packet from another address that continues the source's numbers is of the same stream. Other numbers are those
    /// of another stream: after two packets in sequence, it becomes the stream of this source, and all counting begins
    /// again.
    mutating func sends(
        _ header: RTPHeader, _ encoding: AudioEncoding, from sender: Endpoint, at now: Instant
    ) -> Bool {
        if continues(header, encoding, from: sender, at: now) { return true }
        let isPausing = now - lastPacket > Self.longestPause
        if !isPausing, isOfStream(header, encoding, afterPause: false, at: now) { return false }
        guard collision.insert(header.sequenceNumber, from: sender, at: now), isPausing else { return false }
        move(to: sender)
        beginStream(with: header, encoding, at: now)
        return true
    }

    /// Returns whether a packet from `sender` belongs to the present stream of this source: it comes from the source's
    /// address, or after a pause from another one, and continues the source's numbers. `encoding` is nil if the
    /// packet carries no audio; its timestamp then says nothing.
    mutating func continues(
        _ header: RTPHeader, _ encoding: AudioEncoding?, from sender: Endpoint, at now: Instant
    ) -> Bool {
        guard sender != endpoint else {
            collision.sourcePacketArrived()
            return true
        }
        guard now - lastPacket > Self.longestPause, isOfStream(header, encoding, afterPause: true, at: now) else {
            return false
        }
        move(to: sender)
        return true
    }

    /// Whether the numbers of a packet are near those of the source's newest one: at most 50 packets more than twice those
    /// that fit into the time since then, and at most a second more than that time. After a pause an older packet is not
    /// near.
    private func isOfStream(
        _ header: RTPHeader, _ encoding: AudioEncoding?, afterPause: Bool, at now: Instant
    ) -> Bool {
        let step = header.sequenceNumber.distance(after: reception.highestSequenceNumber)
        let sentCount = Int(min((now - lastPacket) / trace.frame, Double(ReceptionStatistics.maximumDropout)))
        let most = min(sentCount * 2 + Self.spareStep, ReceptionStatistics.maximumDropout - 1)
        guard step <= most, step > (afterPause ? 0 : -Self.spareStep) else { return false }
        guard let encoding, let distance = clock.distance(to: header, encoding, at: now) else { return true }
        return distance.frames <= distance.elapsed + Self.spareTime
            && distance.frames > (afterPause ? .zero : .zero - Self.latestCopy)
    }

    private mutating func move(to sender: Endpoint) {
        endpoint = sender
        credit = 0
        collision.sourceMoved()
    }

    /// Begins a new stream with this packet of audio. Its time follows that of the stream before by arrival, and its
    /// audio is numbered on from there.
    private mutating func beginStream(with header: RTPHeader, _ encoding: AudioEncoding, at now: Instant) {
        reception.restart()
        trace.restart()
        clock.restart(with: header, encoding, at: now)
        numbering.restart(with: header.sequenceNumber)
        payloadDetector.restart()
        pacing.restart()
        keys = PressedKeys()
        // The sender before has stated these.
        (name, capabilities) = (nil, nil)
        transmission = StatedTransmission()
        stated = StatedPackets()
    }

    /// Records the status in a report of the source.
    mutating func stated(_ status: StationStatus, at now: Instant) {
        transmission.stated(status.isTransmitting, at: now)
        guard let last = status.lastSent, reception.receivedCount > 0 else { return }
        stated.stated(last, highest: reception.highestSequenceNumber)
        // A source transmits until one second after its last packet.
        if transmission.isMissing || !status.isTransmitting { stated.settle() }
    }

    /// Records whether packets of the source come to the relay of our channel. While they do, the source stays.
    mutating func relayStated(_ isTransmitting: Bool, at now: Instant) {
        transmission.stated(isTransmitting, at: now)
        if isTransmitting { lastHeard = now }
    }

    /// Determines again whether the source's audio is missing. Returns whether this has changed.
    mutating func updateMissing(at now: Instant) -> Bool {
        let hasChanged = transmission.update(
            lastPacket: lastPacket, isLossy: trace.isLossy(at: now), at: now)
        if transmission.isMissing { stated.settle() }
        return hasChanged
    }

    /// Records the source's BYE. It is removed a little later.
    mutating func leave(reason: String, at now: Instant) {
        goodbye = (reason, now)
        stated.settle()
    }

    /// The number of packets that the source has sent and that are lost, after the highest one that has arrived.
    public var lostAtEndCount: Int { stated.lostCount }

    /// Returns whether a last report to this source, which has left, is due. It answers the BYE at once, unless packets are
    /// still awaited; then, and if packets have come after it, before the source is removed.
    mutating func owesLastReport(at now: Instant) -> Bool {
        guard transmission.isStated, lastReportCount < Self.maximumLastReportCount, goodbye != nil else { return false }
        if hasExpired(at: now) {
            guard lastReportCount == 0 || hasLatePackets else { return false }
        } else {
            guard !stated.isBehind, reception.hasRecentPackets else { return false }
        }
        lastReportCount += 1
        hasLatePackets = false
        return true
    }

    /// Records a packet of this source. Returns whether it is an original or a retransmission. `frameCount` is its
    /// duration; nil if its payload is unreadable. Converts the timestamp in `header` from the clock of `encoding` to
    /// 48 000 Hz. `hasWaited` is true if the packet waited in the socket.
    mutating func packetArrived(
        _ header: inout RTPHeader, _ encoding: AudioEncoding, _ frameCount: FrameCount?, byteCount: Int,
        hasWaited: Bool = false, at now: Instant
    ) -> PacketOrigin {
        var audio = header
        audio.sequenceNumber = numbering.number(of: header.sequenceNumber)
        header.timestamp = clock.time(
            of: audio, encoding, frameCount: frameCount, after: numbering.othersBefore(header.sequenceNumber), at: now)
        if let frameCount { pacing.insert(header.timestamp, frameCount, at: now) }
        return arrived(header, frameCount, byteCount: byteCount, hasWaited: hasWaited, at: now)
    }

    /// Records a packet of this source that carries no audio. Its timestamp is that of an event, and no measure of the
    /// network.
    mutating func otherPacketArrived(_ header: RTPHeader, byteCount: Int, at now: Instant) {
        numbering.skip(header.sequenceNumber)
        var header = header
        header.marker = false
        header.timestamp = clock.time(at: now) ?? header.timestamp
        _ = arrived(header, nil, byteCount: byteCount, at: now)
    }

    private mutating func arrived(
        _ header: RTPHeader, _ frameCount: FrameCount?, byteCount: Int, hasWaited: Bool = false, at now: Instant
    ) -> PacketOrigin {
        lastHeard = now
        if now - lastPacket >= Participant.pause { sendingSince = now }
        lastPacket = now
        hasLatePackets = goodbye != nil
        credit = min(credit + byteCount, Self.maximumCredit)
        receivedByteCount += byteCount
        let isRetransmission = trace.isRetransmission(header, at: now)
        let reception = reception.packetArrived(
            header.sequenceNumber, timestamp: header.timestamp, isRetransmission: isRetransmission,
            hasWaited: hasWaited, at: now)
        switch reception {
        case .ahead(let lost): stated.packetArrived(step: lost + 1)
        case .restarted: stated = StatedPackets()
        case .reordered, .duplicate, .stray: break
        }
        trace.packetArrived(header, frameCount, reception, isRetransmission: isRetransmission, at: now)
        // Treats a duplicate as a retransmission, because it may be the second retransmission of a packet that was
        // requested twice. Its delay then says nothing about the network.
        return isRetransmission || reception == .duplicate ? .retransmitted : .original
    }

    mutating func recordRetransmissions() {
        recovery.requestedCount = trace.missing.requestedCount
        recovery.retransmittedCount = trace.missing.retransmittedCount
    }

    mutating func reportArrived(at now: Instant) {
        lastHeard = now
        hasReported = true
    }

    /// Records the playout of the source's audio. `missing` are the frames of `due` that were not heard for any reason.
    mutating func played(missing: FrameCount, due: FrameCount, at now: Instant) {
        if now >= unheardBegin { unheard.update(missing: missing, due: due, at: now) }
    }

    /// Begins to measure the missing audio again half a second after a pause, since frames that the pause made missing are
    /// counted late.
    mutating func pauseEnded(at now: Instant) {
        unheard = PlayedShare(memory: Self.unheardMemory)
        unheardBegin = now + Self.longestPause
    }

    /// Returns the proportion of the audio of the last 1.5 to 2 s that was due and not heard, 0…1.
    func missingShare(at now: Instant) -> Double {
        looksEncrypted ? 1 : unheard.missingShare(at: now)
    }

    func mayReceive(_ byteCount: Int) -> Bool { byteCount <= credit }

    /// Returns whether `byteCount` bytes may be sent to `endpoint`; if so, they count as sent.
    mutating func spend(_ byteCount: Int) -> Bool {
        guard mayReceive(byteCount) else { return false }
        credit -= byteCount
        return true
    }

    /// Whether the source has left and is removed at `now`.
    func hasExpired(at now: Instant) -> Bool { goodbye.map { $0.at + Self.grace <= now } ?? false }

    /// Returns the time at which the source is removed, unless a packet or report arrives from it before.
    func expiry(memberTimeout: Duration) -> Instant {
        if let goodbye { return goodbye.at + Self.grace }
        return lastHeard + (hasReported ? memberTimeout : Self.timeout)
    }
}

extension Source {
    /// The loss in the network over the last few seconds, before recovery.
    public var recentLoss: LossSummary { trace.recentLoss }
    /// The round trip to the source; nil if unknown.
    public var roundTrip: Duration? { trace.roundTrip.value }
    /// The playout delay that the recovery of lost packets needs.
    public var repair: RecoveryDelay { trace.repair }
    /// Whether the source's payloads look encrypted, because the first bytes of its packets (Opus TOC) change at
    /// random. Nearly all of its packets are then discarded.
    public var looksEncrypted: Bool { payloadDetector.hasBeenDoubted }
}

/// Counts of requests, retransmissions and copies of one source's packets, since its beginning.
public struct RecoveryCounts: Hashable, Sendable {
    /// The number of packets that were requested.
    public var requestedCount = 0
    /// The number of NACKs that requested packets.
    public var nackCount = 0
    /// The number of packets that arrived as retransmissions, after a request.
    public var retransmittedCount = 0
    /// The number of copies passed on in place of packets that had not arrived.
    public var copyCount = 0
    /// The number of copies ignored because their age or duration fits no earlier packet of the talkspurt.
    public var strayCopyCount = 0

    public init() {}

    /// Adds the counts of another period.
    public mutating func add(_ other: Self) {
        requestedCount += other.requestedCount
        nackCount += other.nackCount
        retransmittedCount += other.retransmittedCount
        copyCount += other.copyCount
        strayCopyCount += other.strayCopyCount
    }
}

extension Source {
    /// Adds the copies of missing packets to `packet`. A copy's age shows which packet was copied, except in the first
    /// packet of a talkspurt, which follows a pause. Copies are left out unless they have the payload type of `packet`, or
    /// `payloadTypes` gives theirs its encoding.
    mutating func addCopies(
        _ blocks: RedundantPayload, of datagram: Span<UInt8>, _ header: RTPHeader, into packet: inout MediaPacket,
        accepting payloadTypes: [UInt8: AudioEncoding], at now: Instant
    ) {
        for index in 0..<blocks.count - 1 {
            let block = blocks[index]
            guard
                block.payloadType == blocks.primary.payloadType || payloadTypes[block.payloadType] == packet.encoding,
                block.byteCount > 0
            else { continue }
            let start = header.payload.lowerBound + block.offset
            let frameCount = packet.description.frameCount
            let age = FrameCount(block.age.rawValue * packet.encoding.framesPerTick)
            let (distance, rest) = age.rawValue.quotientAndRemainder(dividingBy: frameCount.rawValue)
            guard !header.marker, distance > 0, rest == 0,
                packet.encoding.frameCount(of: datagram.extracting(start..<start + block.byteCount)) == frameCount
            else {
                recovery.strayCopyCount += 1
                continue
            }
            trace.copySeen(distance: distance, at: now)
            let number = header.sequenceNumber.advanced(by: -distance)
            guard trace.wants(number, distance: distance) else { continue }
            trace.copyArrived(of: number, at: now)
            recovery.copyCount += 1
            packet.add(
                copyOfPacketBefore: distance, age: age,
                PacketDescription(offset: start, byteCount: block.byteCount, frameCount: frameCount))
        }
    }
}
