internal import RTP
internal import Sound

/// Our own stream: its running numbers, and how much of it has gone out.
public struct Transmission: Hashable, Sendable {
    public internal(set) var packetCount = 0
    /// Payload only.
    public internal(set) var byteCount = 0
    /// How the stream looked to whoever reported last.
    public internal(set) var lastView: ReceiverView?
    var sequenceNumber: SequenceNumber
    let firstTimestamp: RTPTimestamp
    var lastTimestamp: RTPTimestamp
    var lastSent: Instant?

    init(_ identity: Identity) {
        sequenceNumber = identity.firstSequenceNumber
        firstTimestamp = identity.firstTimestamp
        lastTimestamp = identity.firstTimestamp
    }

    /// The stream's own clock at `now` (RFC 3550 section 6.4.1).
    func timestamp(at now: Instant) -> RTPTimestamp {
        guard let lastSent else { return lastTimestamp }
        return lastTimestamp.advanced(by: FrameCount(now - lastSent))
    }
}
