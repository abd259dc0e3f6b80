/// The format of linear PCM between modules: interleaved 32-bit floats, full scale at ±1.
public struct LPCMFormat: Hashable, BitwiseCopyable, Sendable {
    public var rate: SampleRate
    /// 1 or more.
    public var channelCount: Int

    public init(rate: SampleRate = .opus, channelCount: Int = 1) {
        precondition(channelCount > 0, "sound has at least one channel")
        self.rate = rate
        self.channelCount = channelCount
    }

    public static let mono = LPCMFormat()
    public static let stereo = LPCMFormat(channelCount: 2)
}
