public import TenfourAudioCore

/// An effect that gives a frame for each that it takes, and so can work in place: on an audio thread, too, since nothing of it
/// allocates or waits.
public protocol InPlaceEffect: AudioEffect, ~Copyable {
    /// Changes the frames of `samples` (interleaved).
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
