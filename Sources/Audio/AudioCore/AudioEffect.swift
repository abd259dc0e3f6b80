/// What changes sound on its way: time and pitch, volume, equaliser. It takes blocks of LPCM and gives blocks of LPCM.
///
/// One thread at a time.
public protocol AudioEffect: ~Copyable {
    /// Of what it takes and of what it gives.
    var format: LPCMFormat { get }

    /// Takes frames of `input` from the front, no more than it needs, and fills `output` from the front, both interleaved;
    /// returns how many frames of each. Fewer are produced than `output` has room for only when all of `input` is consumed.
    mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress

    /// There is no more input: gives what it still holds. Zero when that was all; then it can begin anew.
    mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount

    /// Forgets what it holds, as for a seek. Settings stay.
    mutating func clear()

    /// How many frames of what was taken lie behind the place from which the next frame of output comes. What it was given in
    /// all, less this, is the position in its input.
    var latency: Double { get }

    /// How many frames of input pass in a frame of output, on the average.
    var rate: Double { get }
}

extension AudioEffect where Self: ~Copyable {
    public var latency: Double { 0 }
    public var rate: Double { 1 }
    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount { .zero }
}

/// How far one call of an effect came.
public struct EffectProgress: Hashable, BitwiseCopyable, Sendable {
    public var consumed: FrameCount
    public var produced: FrameCount

    @inlinable public init(consumed: FrameCount, produced: FrameCount) {
        self.consumed = consumed
        self.produced = produced
    }
}
