public import TenfourAudioCore

/// An encoder of G.711: one channel at 8 000 Hz, one byte per sample.
///
/// For the capture thread: nothing is allocated.
public struct G711Encoder: AudioEncoder, Sendable {
    /// µ-law or A-law.
    public let law: G711Law

    public init(law: G711Law) { self.law = law }

    /// The bit rate in bit/s, which is the same for any audio.
    public static let bitRate = 64_000

    public var encoding: AudioEncoding { law == .mu ? .pcmu : .pcma }

    public var format: LPCMFormat { LPCMFormat(rate: SampleRate(hertz: 8_000)) }

    /// Encodes any number of samples into the front of `packet`, which must have at least one byte per sample. Full
    /// scale is ±1; samples beyond it are clipped.
    @_noAllocation @_noLocks
    public mutating func encode(_ samples: Span<Float>, into packet: inout MutableSpan<UInt8>) throws(Never) -> Int {
        let (count, capacity) = (samples.count, packet.count)
        precondition(capacity >= count, "a packet holds a byte for each sample")
        for index in 0..<count {
            // Encodes NaN as silence.
            let scaled = samples[index] * 32_768
            let clipped = scaled.isNaN ? 0 : max(min(scaled, 32_767), -32_768)
            packet[index] = law.encode(Int(clipped + (clipped < 0 ? -0.5 : 0.5)))
        }
        return count
    }
}
