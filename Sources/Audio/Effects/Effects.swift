public import TenfourAudioCore

/// An effect that has one output frame per input frame and can work in place. Usable on an audio thread, since it
/// neither allocates nor blocks.
public protocol InPlaceEffect: AudioEffect, ~Copyable {
    /// Processes `samples` (interleaved) in place.
    mutating func apply(to samples: inout MutableSpan<Float>)
}

extension InPlaceEffect where Self: ~Copyable {
    public mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        let count = min(input.count, output.count) / format.channelCount
        for index in 0..<count * format.channelCount { output[index] = input[index] }
        var samples = output._mutatingExtracting(0..<count * format.channelCount)
        apply(to: &samples)
        return EffectProgress(consumed: FrameCount(count), produced: FrameCount(count))
    }
}
