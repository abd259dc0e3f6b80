/// An effect on LPCM audio, such as a change of rate and pitch, volume or an equaliser. Processes audio block by block.
///
/// For one thread at a time.
public protocol AudioEffect: ~Copyable {
    /// The format of input and output.
    var format: LPCMFormat { get }

    /// Consumes frames from the front of `input`, no more than needed, and fills `output` from the front. Both are
    /// interleaved. Returns the numbers of frames consumed and produced. `output` is left partly empty only if all of
    /// `input` was consumed.
    mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress

    /// Writes the frames that are still buffered after the last input, and returns their number. Call until it returns
    /// zero; then the effect can be used for new audio.
    mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount

    /// Drops buffered audio, for example after a seek. Keeps the settings.
    mutating func clear()

    /// The latency in input frames: the number of frames consumed minus the input position of the next output frame.
    var latency: Double { get }

    /// The mean number of input frames per output frame.
    var rate: Double { get }
}

extension AudioEffect where Self: ~Copyable {
    public var latency: Double { 0 }
    public var rate: Double { 1 }
    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount { .zero }
}

/// The numbers of frames consumed and produced by one call of an effect.
public struct EffectProgress: Hashable, BitwiseCopyable, Sendable {
    public var consumed: FrameCount
    public var produced: FrameCount

    @inlinable public init(consumed: FrameCount, produced: FrameCount) {
        self.consumed = consumed
        self.produced = produced
    }
}
