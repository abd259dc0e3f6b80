public import TenfourAudioCore

/// The format of samples without a header.
public struct RawFormat: Hashable, Sendable {
    public var coding: SampleCoding
    public var format: LPCMFormat

    /// Creates a format. Default: `S16_LE`, 48 kHz, mono, which `arecord -t raw -f S16_LE -r 48000` writes.
    public init(coding: SampleCoding = .signed16, format: LPCMFormat = .mono) {
        self.coding = coding
        self.format = format
    }

    internal var frameByteCount: Int { coding.byteCount * format.channelCount }
}
