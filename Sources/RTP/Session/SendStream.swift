internal import TenfourAudioCore
internal import TenfourPackets

/// Our own stream: its sequence numbers and timestamps, and counts of sent packets and bytes.
public struct SendStream: Hashable, Sendable {
    public private(set) var packetCount = 0
    /// The number of payload bytes in the sent packets.
    public private(set) var byteCount = 0
    /// The view of the receiver that reported last; nil before the first report.
    public internal(set) var lastReceiverView: ReceiverView?
    /// Counts of retransmissions; `packetCount` and `byteCount` do not include them.
    public internal(set) var retransmission = RetransmissionCounts()
    private(set) var nextSequenceNumber: SequenceNumber
    private let firstTimestamp: RTPTimestamp
    /// The encoding of the stream. Its timestamps count at the clock rate of this encoding.
    private let encoding: AudioEncoding
    private var lastTimestamp: RTPTimestamp
    /// The time at which the last packet was sent; nil before the first packet.
    private(set) var lastSent: Instant?
    /// Whether we have sent any packet or report, so that others can know of us.
    var hasSpoken = false
    /// The number of packets sent before the SSRC last changed. Sender reports state only the packets sent since then
    /// (RFC 3550 section 6.4.1).
    private var packetCountBefore = 0
    /// The number of payload bytes sent before the SSRC last changed.
    private var byteCountBefore = 0

    init(_ identity: Identity, _ encoding: AudioEncoding) {
        self.encoding = encoding
        nextSequenceNumber = identity.firstSequenceNumber
        firstTimestamp = identity.firstTimestamp
        lastTimestamp = identity.firstTimestamp
    }

    mutating func packetSent(_ header: RTPHeader, payloadByteCount: Int, at now: Instant) {
        nextSequenceNumber = header.sequenceNumber.advanced(by: 1)
        lastTimestamp = header.timestamp
        lastSent = now
        hasSpoken = true
        packetCount += 1
        byteCount += payloadByteCount
    }

    /// Continues under another SSRC: the counts in sender reports begin again.
    mutating func beginAnew() {
        packetCountBefore = packetCount
        byteCountBefore = byteCount
    }

    /// Returns the timestamp of the packet at `position`, in frames at 48 000 Hz since the start of the stream.
    func timestamp(at position: FrameCount) -> RTPTimestamp {
        firstTimestamp.advanced(by: FrameCount(position.rawValue / encoding.framesPerTick))
    }

    /// Returns the RTP timestamp that corresponds to `now` (RFC 3550 section 6.4.1).
    func timestamp(at now: Instant) -> RTPTimestamp {
        guard let lastSent else { return lastTimestamp }
        return lastTimestamp.advanced(by: FrameCount(now - lastSent, at: encoding.clockRate))
    }

    func report(from ssrc: SSRC, at now: Instant, wallClock: NTPTime, _ blocks: [ReportBlock]) -> SenderReport {
        SenderReport(
            ssrc: ssrc, time: wallClock, timestamp: timestamp(at: now),
            packetCount: UInt32(truncatingIfNeeded: packetCount - packetCountBefore),
            octetCount: UInt32(truncatingIfNeeded: byteCount - byteCountBefore), blocks: blocks)
    }
}
