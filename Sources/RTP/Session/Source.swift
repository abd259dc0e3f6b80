public import TenfourAudioCore
public import TenfourPackets

/// A source of media: what arrived, from where, and the name that it gives itself.
public struct Source: Sendable {
    public let ssrc: SSRC
    /// The address that its media came from last.
    public internal(set) var endpoint: Endpoint
    public internal(set) var reception: ReceptionStatistics
    /// The name that it gives itself, fit to be shown.
    public internal(set) var name: String?
    /// Its capabilities against loss; nil if it has not told them.
    public internal(set) var capabilities: Capabilities?
    /// Counts of what recovered its losses.
    public internal(set) var recovery = RecoveryCounts()
    /// Its last packet or report.
    public internal(set) var lastHeard: Instant
    let firstPacket: Instant
    private(set) var lastPacket: Instant
    /// When we heard of it first, by a packet or a report.
    var since: Instant
    /// When its packets began to come, after the last pause in which it had closed its microphone.
    private var sendingSince: Instant
    var goodbye: (reason: String, at: Instant)?
    private var hasReported = false
    /// Whether it has had a first report of ours, or will.
    var hasInitialReport = false
    /// Bytes that came from `endpoint`, less those that went there: as no more than these are sent to an address that
    /// nobody typed, a forged one gains the forger nothing.
    private var credit = 0

    var trace = ArrivalTrace()
    var payloadDetector = EncryptedPayloadDetector()
    /// The encoding of the newest packet.
    var encoding = AudioEncoding.opus
    var played = PlayedShare()

    /// Longer than Opus is silent within a talkspurt, which is 400 ms.
    static let longestPause = Duration.milliseconds(500)
    /// Without packets or reports. Those who report are given time for five of them (RFC 3550 section 6.3.5).
    private static let timeout = Duration.seconds(10)
    /// How long a good-bye may have overtaken packets.
    private static let grace = Duration.milliseconds(200)
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
            sendingChanged: isSending ? sendingSince : lastPacket)
    }

    /// Whether a packet from `sender` is this source's. It may move, but not while the old address still sends: then another
    /// has chosen the same number, and the first is kept (RFC 3550 section 8.2).
    mutating func sends(from sender: Endpoint, at now: Instant) -> Bool {
        guard sender != endpoint else { return true }
        guard now - lastPacket > Self.longestPause else { return false }
        endpoint = sender
        credit = 0
        return true
    }

    /// Returns whether it came by itself or because it was asked for. `frameCount` is the sound in it, nil where it is no Opus.
    mutating func packetArrived(_ header: RTPHeader, _ frameCount: FrameCount?, byteCount: Int, at now: Instant)
        -> PacketOrigin
    {
        lastHeard = now
        if now - lastPacket >= Participant.pause { sendingSince = now }
        lastPacket = now
        credit = min(credit + byteCount, Self.maximumCredit)
        let isRetransmission = trace.isRetransmission(header, at: now)
        let reception = reception.packetArrived(
            header.sequenceNumber, timestamp: header.timestamp, isRetransmission: isRetransmission, at: now)
        trace.packetArrived(header, frameCount, reception, isRetransmission: isRetransmission, at: now)
        // The second answer to a question that was asked twice says nothing of how long packets take.
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

    func mayReceive(_ byteCount: Int) -> Bool { byteCount <= credit }

    /// Whether so much may be sent to `endpoint`; then it counts as sent.
    mutating func spend(_ byteCount: Int) -> Bool {
        guard mayReceive(byteCount) else { return false }
        credit -= byteCount
        return true
    }

    /// When it is to be forgotten, if nothing comes until then.
    func expiry(memberTimeout: Duration) -> Instant {
        if let goodbye { return goodbye.at + Self.grace }
        return lastHeard + (hasReported ? memberTimeout : Self.timeout)
    }
}

extension Source {
    /// The last few seconds of its packets, as the network brought them.
    public var recentLoss: LossSummary { trace.recentLoss }
    /// There and back; nil where it is not known.
    public var roundTrip: Duration? { trace.roundTrip.value }
    /// The delay that recovery needs in its playout.
    public var repair: RecoveryDelay { trace.repair }
    /// Whether its packets change their coding as only encrypted ones do. From then on nearly none is played.
    public var looksEncrypted: Bool { payloadDetector.hasBeenDoubted }
}

/// Counts of what recovered the losses of one source, since its beginning.
public struct RecoveryCounts: Hashable, Sendable {
    /// Packets that were requested, and the NACKs that requested them.
    public var requestedCount = 0
    public var nackCount = 0
    /// Packets that came because they were requested.
    public var retransmittedCount = 0
    /// Copies handed on in the place of packets that had not come.
    public var copyCount = 0
    /// Copies of no packet that could have been: their time does not fit.
    public var strayCopyCount = 0

    public init() {}

    /// Adds what was done at another time.
    public mutating func add(_ other: Self) {
        requestedCount += other.requestedCount
        nackCount += other.nackCount
        retransmittedCount += other.retransmittedCount
        copyCount += other.copyCount
        strayCopyCount += other.strayCopyCount
    }
}

extension Source {
    /// Adds the copies of missing packets to `packet`. The age of a copy tells which packet it is, except in the first packet
    /// of a talkspurt, which follows a gap. Copies with another payload type than `accepting` are left out.
    mutating func addCopies(
        _ blocks: RedundantPayload, of datagram: Span<UInt8>, _ header: RTPHeader, into packet: inout MediaPacket,
        accepting payloadTypes: Set<UInt8>, at now: Instant
    ) {
        for index in 0..<blocks.count - 1 {
            let block = blocks[index]
            guard payloadTypes.contains(block.payloadType), block.byteCount > 0,
                AudioEncoding(payloadType: block.payloadType) == packet.encoding
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
