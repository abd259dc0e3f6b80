public import TenfourAudioCore

/// The identification header of Opus in Ogg, which is also the codec's private data in WebM (RFC 7845 section 5.1).
public struct OpusIdentificationHeader: Hashable, Sendable {
    /// The number of channels, 1 or 2. RTP announces two; mono packets are played in both.
    public var channelCount: Int
    /// The number of frames at the beginning of the decoder's output that players discard, 0…65 535.
    public var preSkip: FrameCount

    public init(channelCount: Int = 2, preSkip: FrameCount) {
        self.channelCount = channelCount
        self.preSkip = preSkip
    }

    /// The header of a live stream. There is no pre-skip, because a listener begins in the middle of a stream: no sample
    /// belongs to an encoder's start.
    public static let live = Self(preSkip: .zero)

    /// The header of a recording that begins with a talker's first packet. The first 312 frames that a decoder returns
    /// lie before the audio of this packet: they are libopus's look-ahead of 6.5 ms.
    public static let recording = Self(preSkip: FrameCount(312))

    /// The header's packet. The input rate is 48 000 Hz, the gain zero, the channel mapping that of mono and stereo.
    public var bytes: [UInt8] {
        Array("OpusHead".utf8) + [1, UInt8(truncatingIfNeeded: channelCount)]
            + [UInt8(truncatingIfNeeded: preSkip.rawValue), UInt8(truncatingIfNeeded: preSkip.rawValue >> 8)]
            + [0x80, 0xBB, 0, 0, 0, 0, 0]
    }

    /// Parses the packet of an identification header. Total: for any bytes it returns a header or throws.
    public init(parsing packet: Span<UInt8>) throws(OggOpusError) {
        guard packet.count >= 19, packet.begins(with: "OpusHead"), packet[8] & 0xF0 == 0 else { throw .notOpus }
        channelCount = Int(packet[9])
        guard 1...2 ~= channelCount else { throw .notOpus }
        preSkip = FrameCount(Int(packet[10]) | Int(packet[11]) << 8)
    }
}

extension Span<UInt8> {
    /// Whether the bytes begin with those of `text`.
    func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { unsafe self[$0] == text.utf8Start[$0] }
    }
}
