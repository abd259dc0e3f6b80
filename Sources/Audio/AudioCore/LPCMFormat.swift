/// The rate and channel count of linear PCM. All modules exchange samples as interleaved 32-bit floats, full scale at
/// ±1.
public struct LPCMFormat: Hashable, BitwiseCopyable, Sendable {
    public var rate: SampleRate
    /// The number of channels, 1 or more.
    public var channelCount: Int

    public init(rate: SampleRate = .opus, channelCount: Int = 1) {
        precondition(channelCount > 0, "sound has at least one channel")
        self.rate = rate
        self.channelCount = channelCount
    }

    public static let mono = LPCMFormat()
    public static let stereo = LPCMFormat(channelCount: 2)
}
