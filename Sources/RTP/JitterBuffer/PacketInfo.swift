public import TenfourAudioCore
public import TenfourPackets

/// The values of a packet's header that a jitter buffer needs.
public struct PacketInfo: Hashable, BitwiseCopyable, Sendable {
    public var sequenceNumber: SequenceNumber
    /// The timestamp at 48 000 Hz, whatever the clock rate of the encoding.
    public var timestamp: RTPTimestamp
    public var encoding: AudioEncoding
    /// The duration of the packet, in frames at 48 000 Hz.
    public var frameCount: FrameCount
    /// Whether the payload carries a coarse copy of the packet before it (in-band FEC).
    public var carriesFEC: Bool
    public var origin: PacketOrigin
    /// Whether the packet is the first of a talkspurt (the marker bit, RFC 7587 section 4.1). It may then have been
    /// captured some time before it was sent, with the packets after it: audio from before the microphone was opened.
    public var startsTalkspurt: Bool
    /// Whether the packet waited in the socket before anybody read it. Its arrival is then later than that at the socket.
    public var hasWaited: Bool

    @_noAllocation @_noLocks
    public init(
        sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, frameCount: FrameCount, carriesFEC: Bool = false,
        origin: PacketOrigin = .original, encoding: AudioEncoding = .opus, startsTalkspurt: Bool = false,
        hasWaited: Bool = false
    ) {
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.frameCount = frameCount
        self.carriesFEC = carriesFEC
        self.origin = origin
        self.encoding = encoding
        self.startsTalkspurt = startsTalkspurt
        self.hasWaited = hasWaited
    }
}

/// The result of inserting a packet.
public enum Arrival: Equatable, BitwiseCopyable, Sendable {
    case queued
    /// All of the packet's audio was due already. Playout is `by` frames beyond the beginning of the packet.
    case late(by: FrameCount)
    /// All of the packet's audio was due while the card stood still.
    case skipped
    case duplicate
    /// A copy or retransmission that is not needed, because its packet is queued or has been played.
    case spare
    /// The packet does not fit the sequence numbers and timestamps of the packets before it. If the next packet
    /// continues this one, playout restarts.
    case outlier
    /// Playout restarts with this packet: the talker's sequence numbers or timestamps have jumped.
    case resynchronised
    /// The packet was not queued, because it is too long or too far ahead of the other packets.
    case refused
}
