public import TenfourAudioCore

/// The duration and the number of bytes of encoded audio, from which the codec's bit rate follows.
///
/// Opus encodes speech at 6 kbit/s or more. A packet with a lower bit rate stands for silence, shows nothing about the
/// codec, and is not counted.
public struct CodedAudio: Hashable, BitwiseCopyable, Sendable {
    public private(set) var byteCount = 0
    public private(set) var frameCount = FrameCount.zero
    public private(set) var packetCount = 0
    /// The encoding of the last packet that was counted.
    public private(set) var encoding = AudioEncoding.opus

    /// The minimum bit rate of a packet of speech, in bit/s. A packet with a lower bit rate is not counted.
    private static var least: Int { 6_000 }

    @_noAllocation @_noLocks
    public init() {}

    /// The bit rate, in bit/s; nil before the first packet.
    public var bitRate: Int? {
        frameCount > .zero ? byteCount * 8 * SampleRate.opus.hertz / frameCount.rawValue : nil
    }

    /// The mean duration of a packet; nil before the first packet.
    public var frame: Duration? { packetCount > 0 ? frameCount.duration() / packetCount : nil }

    /// Counts a packet of `byteCount` bytes of payload and `frameCount` frames at 48 000 Hz.
    @_noAllocation @_noLocks
    public mutating func add(byteCount: Int, frameCount: FrameCount, encoding: AudioEncoding = .opus) {
        guard byteCount * 8 * SampleRate.opus.hertz >= Self.least * frameCount.rawValue else { return }
        self.byteCount += byteCount
        self.frameCount += frameCount
        packetCount += 1
        self.encoding = encoding
    }

    /// Adds the packets that are counted in `now` but not in `before`, an earlier value of the same counts.
    public mutating func add(_ now: Self, since before: Self = .init()) {
        byteCount += now.byteCount - before.byteCount
        frameCount += now.frameCount - before.frameCount
        packetCount += now.packetCount - before.packetCount
        if now.packetCount > before.packetCount { encoding = now.encoding }
    }
}
