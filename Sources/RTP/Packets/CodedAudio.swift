public import TenfourAudioCore

/// How much sound came in how many bytes of payload: the bit rate of its codec.
///
/// A packet of less than Opus codes speech with stands for silence. It says nothing of the codec, and does not count.
public struct CodedAudio: Hashable, BitwiseCopyable, Sendable {
    public private(set) var byteCount = 0
    public private(set) var frameCount = FrameCount.zero
    public private(set) var packetCount = 0

    /// In bit/s.
    private static var least: Int { 6_000 }

    @_noAllocation @_noLocks
    public init() {}

    /// In bit/s; nil where nothing came.
    public var bitRate: Int? {
        frameCount > .zero ? byteCount * 8 * SampleRate.opus.hertz / frameCount.rawValue : nil
    }

    /// The mean duration of a packet; nil before the first.
    public var frame: Duration? { packetCount > 0 ? frameCount.duration() / packetCount : nil }

    /// A packet has come.
    @_noAllocation @_noLocks
    public mutating func add(byteCount: Int, frameCount: FrameCount) {
        guard byteCount * 8 * SampleRate.opus.hertz >= Self.least * frameCount.rawValue else { return }
        self.byteCount += byteCount
        self.frameCount += frameCount
        packetCount += 1
    }

    /// Adds what has come since it was `before`.
    public mutating func add(_ now: Self, since before: Self = .init()) {
        byteCount += now.byteCount - before.byteCount
        frameCount += now.frameCount - before.frameCount
        packetCount += now.packetCount - before.packetCount
    }
}
