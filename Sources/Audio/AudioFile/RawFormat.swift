public import TenfourAudioCore

/// How to take samples that come without a header.
public struct RawFormat: Hashable, Sendable {
    public var coding: SampleCoding
    public var format: LPCMFormat

    /// `S16_LE`, 48 kHz, one channel unless said otherwise: what `arecord -t raw -f S16_LE -r 48000` gives.
    public init(coding: SampleCoding = .signed16, format: LPCMFormat = .mono) {
        self.coding = coding
        self.format = format
    }

    internal var frameByteCount: Int { coding.byteCount * format.channelCount }
}
