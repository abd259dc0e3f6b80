public import TenfourAudioCore

/// A chain of two effects. Since it is itself an effect, chains of any length are made by nesting.
///
///     var chain = EffectChain(TimePitch(format: format), EffectChain(equalizer, volume))
///     chain.first.rate = 1.5
///     chain.second.second.fade(to: 0, over: .seconds(2))
public struct EffectChain<First: AudioEffect & ~Copyable, Second: AudioEffect & ~Copyable>: ~Copyable, AudioEffect {
    public var first: First
    public var second: Second

    public var format: LPCMFormat { first.format }
    public var rate: Double { first.rate * second.rate }
    public var latency: Double { first.latency + (Double(pending.count) + second.latency) * first.rate }

    /// The range of frames in `between` that the first effect produced and the second has not consumed.
    private var pending = 0..<0
    /// The buffer between the effects: output of the first effect, input of the second.
    private var between: FixedBuffer<Float>

    private static var block: Int { 256 }

    /// Creates a chain of `first` and `second`, which must have the same format.
    public init(_ first: consuming First, _ second: consuming Second) {
        precondition(first.format == second.format, "effects of a chain have one format")
        between = FixedBuffer(repeating: 0, count: Self.block * first.format.channelCount)
        self.first = first
        self.second = second
    }

    public mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        var consumed = 0
        let produced = produce(into: &output) { first, room in
            let progress = first.process(input.extracting(consumed..<input.count), into: &room)
            consumed += progress.consumed.rawValue * first.format.channelCount
            return progress.produced
        }
        return EffectProgress(consumed: FrameCount(consumed / format.channelCount), produced: produced)
    }

    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        var produced = produce(into: &output) { first, room in first.finish(into: &room) }
        if produced.rawValue * format.channelCount < output.count {
            var rest = output._mutatingExtracting(produced.rawValue * format.channelCount..<output.count)
            produced += second.finish(into: &rest)
        }
        return produced
    }

    public mutating func clear() {
        pending = 0..<0
        first.clear()
        second.clear()
    }

    /// Fills `output` from the second effect. `more` makes the first effect produce input for the second effect. Ends
    /// when `output` is full or `more` returns no frames.
    private mutating func produce(
        into output: inout MutableSpan<Float>, _ more: (inout First, inout MutableSpan<Float>) -> FrameCount
    ) -> FrameCount {
        let channelCount = format.channelCount
        var produced = 0
        while produced * channelCount < output.count {
            if pending.isEmpty {
                // Produces no more frames than requested, since buffered frames would delay a new setting.
                let requested = min(Self.block * channelCount, output.count - produced * channelCount)
                pending = 0..<Self.fill(&between, upTo: requested, from: &first, more).rawValue
                if pending.isEmpty { break }
            }
            let samples = pending.lowerBound * channelCount..<pending.upperBound * channelCount
            var rest = output._mutatingExtracting(produced * channelCount..<output.count)
            let progress = Self.pass(between, samples, through: &second, into: &rest)
            pending = pending.lowerBound + progress.consumed.rawValue..<pending.upperBound
            produced += progress.produced.rawValue
        }
        return FrameCount(produced)
    }

    // The functions below are static, so that the compiler sees that their arguments are different properties.

    private static func fill(
        _ between: inout FixedBuffer<Float>, upTo count: Int, from first: inout First,
        _ more: (inout First, inout MutableSpan<Float>) -> FrameCount
    ) -> FrameCount {
        var room = between.mutableSpan(in: 0..<count)
        return more(&first, &room)
    }

    private static func pass(
        _ between: borrowing FixedBuffer<Float>, _ samples: Range<Int>, through second: inout Second,
        into output: inout MutableSpan<Float>
    ) -> EffectProgress {
        second.process(between.span(in: samples), into: &output)
    }
}

extension EffectChain: Sendable where First: Sendable & ~Copyable, Second: Sendable & ~Copyable {}
