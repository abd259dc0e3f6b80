internal import TenfourAudioCore
internal import TenfourEffects

/// The effect of the program's own, which can be replaced during playback without a click: the present one fades out
/// over 5 ms, and the next one fades in.
///
/// Frames that the present effect has read ahead are dropped, so that the position jumps by its latency.
struct ReplaceableEffect: ~Copyable, AudioEffect {
    private var present: AnyAudioEffect
    /// The effect that follows when the present one has faded out; nil if none follows.
    private var next: AnyAudioEffect?
    private var gain: Float = 1
    /// The change of `gain` per frame.
    private let step: Float

    private static var fadeSeconds: Float { 0.005 }

    init(_ effect: consuming AnyAudioEffect) {
        step = 1 / (Self.fadeSeconds * Float(effect.format.rate.hertz))
        present = effect
    }

    /// Replaces the effect by `effect`, which must have the same format.
    mutating func replace(by effect: consuming AnyAudioEffect) {
        precondition(present.format == effect.format, "an effect has the format of the output")
        next = consume effect
    }

    var format: LPCMFormat { present.format }
    var latency: Double { present.latency }
    var rate: Double { present.rate }

    mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        if gain <= 0 { adoptNext() }
        let progress = present.process(input, into: &output)
        fade(&output, progress.produced.rawValue)
        return progress
    }

    mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        let produced = present.finish(into: &output)
        fade(&output, produced.rawValue)
        return produced
    }

    /// Drops buffered audio. A replacement needs no fade then, since the audio jumps anyway.
    mutating func clear() {
        adoptNext()
        gain = 1
        present.clear()
    }

    private mutating func adoptNext() { if let effect = next.take() { present = effect } }

    private mutating func fade(_ samples: inout MutableSpan<Float>, _ frameCount: Int) {
        let isLeaving = next != nil
        if !isLeaving, gain >= 1 { return }
        for frame in 0..<frameCount {
            gain = isLeaving ? max(gain - step, 0) : min(gain + step, 1)
            for channel in 0..<format.channelCount { samples[frame * format.channelCount + channel] *= gain }
        }
    }
}
