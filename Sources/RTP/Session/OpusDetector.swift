internal import TenfourAudioCore
internal import TenfourPackets

/// Recognises Opus by the packets of one stream, where nobody has named the codec of its payload type.
///
/// An Opus packet states its duration in its first byte, the TOC (RFC 6716 section 3.1), and the timestamps of Opus count
/// at 48 000 Hz (RFC 7587 section 4.1). Ten packets over 160 ms whose durations agree with their timestamps are Opus, if
/// nothing else speaks against it. Other codecs have other clocks, and bytes that change in the place of the TOC.
struct OpusDetector: Sendable {
    /// Whether the stream is Opus. It stays so.
    private(set) var isOpus = false
    /// The packets that agree, up to the newest; nil if the last packet was not one of Opus.
    private var run: Run?

    /// The number of packets that prove a stream: 200 ms of packets of 20 ms.
    static let minimumCount = 10
    /// The minimum time from the first of them to the last. In a shorter time, the network hides the pace of the packets.
    static let minimumDuration = FrameCount(7_680)
    /// The number of different TOCs, without their frame count codes, that an encoder uses in ten packets.
    fileprivate static let maximumTOCCount = 3
    /// The greatest step of sequence numbers within a run: up to three lost packets in a row.
    private static let maximumStep = 4
    /// The maximum bit rate of Opus is 510 kbit/s (RFC 6716 section 1): 64 bytes per millisecond. LPCM of 16 bits has 96.
    private static let bytesPerMillisecond = 64
    /// The length up to which packets prove nothing: silence that was not sent (DTX), or comfort noise of another codec.
    private static let emptyByteCount = 2
    /// The time by which the last packet of a run may be held back by the network, in addition to half of the run's duration.
    fileprivate static let spareTime = Duration.milliseconds(40)

    /// Packets in sequence, whose timestamps advance by their durations.
    fileprivate struct Run {
        let begin: Instant
        let frameCount: FrameCount
        /// The sequence number and timestamp of the newest packet.
        var newest: (number: SequenceNumber, timestamp: RTPTimestamp)
        /// The duration from the first packet to the newest.
        var duration = FrameCount.zero
        /// The number of packets that prove something.
        var count = 0
        /// The TOCs of the last ten of these packets, the newest in the lowest six bits.
        var tocs: UInt64 = 0
        /// The first four bytes of the first Opus frame in the newest of these packets. In a steady tone, the first byte alone
        /// may be the same in all packets.
        var firstBytes: UInt32?
        /// Whether these bytes differ, or a packet is one of digital silence.
        var isVaried = false
    }

    /// Inserts the next packet of the stream.
    mutating func insert(_ header: RTPHeader, _ payload: Span<UInt8>, at now: Instant) {
        guard !isOpus, TelephoneEvent(parsing: payload) == nil else { return }
        guard let packet = try? OpusPacket(parsing: payload),
            payload.count <= packet.frameCount.rawValue * Self.bytesPerMillisecond / 48, !hasAUHeader(payload)
        else {
            run = nil
            return
        }
        guard advance(to: header, packet.frameCount) else { return }
        if run == nil {
            run = Run(
                begin: now, frameCount: packet.frameCount, newest: (header.sequenceNumber, header.timestamp))
        }
        guard payload.count > Self.emptyByteCount else { return }
        run?.add(packet, payload)
        guard let run else { return }
        isOpus = run.isVaried && run.mayBeOpus(at: now)
    }

    /// Whether the last packets may be those of Opus in silence, which all are the same and prove nothing.
    func mayBeOpus(at now: Instant) -> Bool { run?.mayBeOpus(at: now) ?? false }

    /// Advances the run to a packet, or ends the run if the packet does not agree with it. Returns false if the packet is
    /// late or doubled.
    private mutating func advance(to header: RTPHeader, _ frameCount: FrameCount) -> Bool {
        guard let run else { return true }
        let step = header.sequenceNumber.distance(after: run.newest.number)
        if step <= 0, step > -Self.maximumStep { return false }
        let distance = header.timestamp.distance(after: run.newest.timestamp)
        guard step > 0, step <= Self.maximumStep, frameCount == run.frameCount,
            distance.rawValue == frameCount.rawValue * step
        else {
            self.run = nil
            return true
        }
        self.run?.newest = (header.sequenceNumber, header.timestamp)
        self.run?.duration += distance
        return true
    }
}

/// Returns whether a payload begins like AAC in RFC 3640: with the length of the headers, 16 bits, in two bytes.
private func hasAUHeader(_ payload: Span<UInt8>) -> Bool {
    payload.count > 4 && payload[0] == 0 && payload[1] == 16
}

extension OpusDetector.Run {
    /// Adds a packet. CELT encodes digital silence in two bytes (RFC 6716 section 4.3), which libopus makes 0xFF 0xFE.
    fileprivate mutating func add(_ packet: OpusPacket, _ payload: Span<UInt8>) {
        count += 1
        tocs = tocs << 6 | UInt64(packet.toc.rawValue >> 2)
        let frame = packet[0]
        if payload.count == 3, payload[1] == 0xFF, payload[2] == 0xFE { isVaried = true }
        var bytes: UInt32 = 0
        for place in 0..<min(frame.byteCount, 4) { bytes = bytes << 8 | UInt32(payload[frame.offset + place]) }
        if let firstBytes, bytes != firstBytes { isVaried = true }
        firstBytes = bytes
    }

    /// Whether nothing in the packets up to `now` speaks against Opus. A slower clock than 48 000 Hz is another codec's.
    fileprivate func mayBeOpus(at now: Instant) -> Bool {
        count >= OpusDetector.minimumCount && duration >= OpusDetector.minimumDuration
            && differentTOCCount <= OpusDetector.maximumTOCCount
            && now - begin <= duration.duration() * 3 / 2 + OpusDetector.spareTime
    }

    private var differentTOCCount: Int {
        var kinds: UInt64 = 0
        for place in 0..<OpusDetector.minimumCount { kinds |= 1 << (tocs >> (place * 6) & 0x3F) }
        return kinds.nonzeroBitCount
    }
}
