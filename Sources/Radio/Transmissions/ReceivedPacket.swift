public import TenfourAudioCore
public import TenfourPackets

/// What is known of a talker's packet besides its payload.
public struct ReceivedPacket: Hashable, BitwiseCopyable, Sendable {
    public var ssrc: SSRC
    public var sequenceNumber: SequenceNumber
    /// The timestamp at 48 000 Hz, whatever the clock of the encoding.
    public var timestamp: RTPTimestamp
    /// The duration of the audio, at most 120 ms.
    public var frameCount: FrameCount
    public var encoding: AudioEncoding
    public var origin: PacketOrigin

    public init(
        ssrc: SSRC, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, frameCount: FrameCount,
        encoding: AudioEncoding = .opus, origin: PacketOrigin = .original
    ) {
        self.ssrc = ssrc
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.frameCount = frameCount
        self.encoding = encoding
        self.origin = origin
    }

    /// Whether a payload of `byteCount` bytes only says that the talker is silent: Opus without speech (DTX, RFC 7587
    /// section 3.1.3) sends packets of one or two bytes.
    func isSilent(byteCount: Int) -> Bool { encoding == .opus && byteCount <= 2 }
}

/// When a transmission begins and ends.
///
/// A transmission is what one talker says until 1 s passes without speech. 1 s is longer than the pauses between words,
/// than the hang time of VOX and than most failures of a network, and shorter than the time in which another talker
/// answers and the first one speaks again.
public enum TransmissionRule {
    /// The time without speech that ends a transmission.
    public static let pause = Duration.seconds(1)
}
