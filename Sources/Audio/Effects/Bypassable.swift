public import TenfourAudioCore

/// An effect that can be switched off and on again without a click.
///
///     var chain = EffectChain(Bypassable(equalizer), Bypassable(compressor))
///     chain.second.isBypassed = true
///
/// Audio passes unchanged while the effect is bypassed, and the effect does not run.
public struct Bypassable<Effect: InPlaceEffect & ~Copyable>: ~Copyable, InPlaceEffect {
    public var effect: Effect
    /// Whether audio passes without the effect. A change is cross-faded over 10 ms.
    public var isBypassed: Bool {
        didSet {
            guard isBypassed != oldValue else { return }
            if !isBypassed, share.value == 0 { effect.clear() }
            share.begin(isBypassed ? 0 : 1, frameCount: format.rate.hertz / 100)
        }
    }

    public var format: LPCMFormat { effect.format }

    /// The proportion of the effect in the output.
    private var share: Ramp
    /// The input of a block, for the cross-fade.
    private var original: FixedBuffer<Float>

    private static var block: Int { 128 }

    public init(_ effect: consuming Effect, isBypassed: Bool = false) {
        original = FixedBuffer(repeating: 0, count: Self.block * effect.format.channelCount)
        self.effect = effect
        self.isBypassed = isBypassed
        share = Ramp(isBypassed ? 0 : 1)
    }

    public mutating func apply(to samples: inout MutableSpan<Float>) {
        var start = 0
        while start < samples.count {
            let end = share.isMoving ? min(start + original.count, samples.count) : samples.count
            var block = samples._mutatingExtracting(start..<end)
            applyToBlock(&block)
            start = end
        }
    }

    private mutating func applyToBlock(_ samples: inout MutableSpan<Float>) {
        guard share.isMoving else {
            if share.value > 0 { effect.apply(to: &samples) }
            return
        }
        for index in samples.indices { original[index] = samples[index] }
        effect.apply(to: &samples)
        let channelCount = format.channelCount
        for frame in 0..<samples.count / channelCount {
            share.advance()
            for index in frame * channelCount..<(frame + 1) * channelCount {
                samples[index] = original[index] + (samples[index] - original[index]) * share.value
            }
        }
    }

    public mutating func clear() {
        share = Ramp(share.target)
        effect.clear()
    }
}

extension Bypassable: Sendable where Effect: Sendable & ~Copyable {}
