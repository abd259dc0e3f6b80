internal import TenfourAudioCore
internal import TenfourPackets

/// Sends our stream: packetizes it, protects it against loss, and answers NACKs for it.
struct MediaSender: Sendable {
    private(set) var stream: SendStream
    private var protection: LossProtectionController
    private var redundancy: RedundancyEncoder
    private var retransmitter: Retransmitter

    init(_ identity: Identity, _ configuration: RTPSessionConfiguration) {
        let bitRate = configuration.lossProtection.bitRate
        stream = SendStream(identity, configuration.encoding)
        protection = LossProtectionController(configuration.lossProtection)
        redundancy = RedundancyEncoder(bitRate: bitRate)
        retransmitter = Retransmitter(bitRate: bitRate)
    }

    var lossProtection: LossProtection { protection.current }
    /// The estimated bit rate that the network carries, in bit/s.
    var estimatedBitRate: Int { protection.bitRate }
    /// The time at which the protection must be reviewed; nil while the stream has no protection.
    var deadline: Instant? { protection.deadline }

    /// Whether a receiver reported loss within the last five seconds.
    func isLossy(at now: Instant) -> Bool { protection.isLossy(at: now) }

    /// Puts a packet of our stream into `outbox`. `position` is the start of its audio, in frames at 48 000 Hz since
    /// the start of the stream. Returns the packet's header.
    mutating func send(
        _ payload: Span<UInt8>, at position: FrameCount, startsTalkspurt: Bool, under ssrc: SSRC,
        _ configuration: RTPSessionConfiguration, _ outbox: inout Outbox, now: Instant
    ) -> RTPHeader {
        let copies = redundancy.copies(
            at: lossProtection.copies, frameCount: configuration.lossProtection.frameCount, beside: payload.count,
            at: position, startsTalkspurt: startsTalkspurt, now: now)
        let header = RTPHeader(
            marker: startsTalkspurt,
            payloadType: copies.isEmpty ? configuration.payloadType : protection.redPayloadType,
            sequenceNumber: stream.nextSequenceNumber, timestamp: stream.timestamp(at: position),
            ssrc: ssrc)
        outbox.putMedia(
            capacity: RTPHeader.byteCount + RedundancyEncoder.byteCount(of: payload, with: copies),
            to: configuration.remotes
        ) { datagram in
            header.write(into: &datagram)
            redundancy.write(
                payload, with: copies, payloadType: configuration.payloadType, at: position, into: &datagram)
        }
        redundancy.keep(payload, at: position)
        let byteCount = outbox.media.count - RTPHeader.byteCount
        stream.packetSent(header, payloadByteCount: byteCount, at: now)
        retransmitter.mediaSent(payloadByteCount: byteCount, at: now)
        if configuration.retransmits, !configuration.remotes.isEmpty {
            retransmitter.keep(header.sequenceNumber, outbox.media.span, at: now)
        }
        return header
    }

    /// Puts the packets that a NACK requests into `outbox`. `roundTrip` is the round trip to the sender of the NACK;
    /// nil if unknown.
    mutating func retransmit(
        _ nack: GenericNACK, to sender: Endpoint, roundTrip: Duration?, _ configuration: RTPSessionConfiguration,
        _ outbox: inout Outbox, at now: Instant
    ) {
        stream.retransmission.nackCount += 1
        guard configuration.retransmits,
            let remote = configuration.remotes.firstIndex(where: { $0.address == sender.address })
        else {
            stream.retransmission.refusedCount += nack.sequenceNumbers.count
            return
        }
        let datagrams = retransmitter.retransmit(
            nack, to: remote, roundTrip: roundTrip, counting: &stream.retransmission, at: now)
        for datagram in datagrams { outbox.putRetransmission(datagram, to: configuration.remotes[remote]) }
    }

    /// Chooses the protection of the stream again. `isFresh` is true if a receiver has just reported.
    mutating func updateProtection(
        _ receivers: Receivers, _ configuration: RTPSessionConfiguration, isFresh: Bool, at now: Instant
    ) {
        let bitRate = protection.update(
            receivers, configuration, retransmits: configuration.retransmits, savedBits: redundancy.level,
            isFresh: isFresh, at: now)
        // Changes nothing for G.711. It has one bit rate, so with a lower limit its own packets would leave nothing for
        // retransmissions.
        guard let bitRate, configuration.encoding == .opus else { return }
        redundancy.setBitRate(bitRate)
        retransmitter.setBitRate(bitRate)
    }

    /// Records that a report or NACK was sent, so that other participants know of us.
    mutating func controlSent() { stream.hasSpoken = true }

    /// Records a receiver's view of the stream.
    mutating func receiverReported(_ view: ReceiverView) { stream.lastReceiverView = view }

    /// Continues the stream under another SSRC.
    mutating func ssrcChanged() {
        stream.beginAnew()
        retransmitter.removeAll()
    }
}
