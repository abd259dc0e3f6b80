public import TenfourAudioCore

/// Any effect, such as one of a program's own, as one type. It costs a call through a table per block.
///
///     AnyAudioEffect(Equalizer(format: format, bands: bands)).followed(by: AnyAudioEffect(Echo(format: format)))
///
/// Not for audio threads, unless the effect itself neither allocates nor blocks.
public struct AnyAudioEffect: ~Copyable, AudioEffect {
    private let box: EffectBox

    /// Takes over `effect`.
    public init<Effect: AudioEffect & ~Copyable>(_ effect: consuming Effect) { box = ConcreteEffectBox(effect) }

    /// Returns the chain of this effect and then `next`, which must have the same format. Chains of any length are made
    /// by further calls.
    public consuming func followed(by next: consuming AnyAudioEffect) -> AnyAudioEffect {
        AnyAudioEffect(EffectChain(self, next))
    }

    public var format: LPCMFormat { box.format }
    public var latency: Double { box.latency }
    public var rate: Double { box.rate }

    public mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        box.process(input, into: &output)
    }

    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount { box.finish(into: &output) }

    public mutating func clear() { box.clear() }
}

/// The effect that changes nothing.
public struct NoEffect: InPlaceEffect, Sendable {
    public let format: LPCMFormat

    public init(format: LPCMFormat) { self.format = format }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {}

    public mutating func clear() {}
}

private class EffectBox {
    var format: LPCMFormat { preconditionFailure("a box holds an effect") }
    var latency: Double { 0 }
    var rate: Double { 1 }
    func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        EffectProgress(consumed: .zero, produced: .zero)
    }
    func finish(into output: inout MutableSpan<Float>) -> FrameCount { .zero }
    func clear() {}
}

private final class ConcreteEffectBox<Effect: AudioEffect & ~Copyable>: EffectBox {
    private var effect: Effect

    init(_ effect: consuming Effect) { self.effect = effect }

    override var format: LPCMFormat { effect.format }
    override var latency: Double { effect.latency }
    override var rate: Double { effect.rate }

    override func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        effect.process(input, into: &output)
    }

    override func finish(into output: inout MutableSpan<Float>) -> FrameCount { effect.finish(into: &output) }

    override func clear() { effect.clear() }
}
