public import TenfourAudioCore

/// An equaliser: bands in series, each a biquad filter.
///
/// For one thread at a time, which may be an audio thread: after `init` no function allocates or blocks.
public struct Equalizer: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat
    public let bandCount: Int

    private var bands: FixedBuffer<EqualizerBand>
    private var filters: FixedBuffer<Filter>
    /// The filter states, one per band and channel.
    private var memories: FixedBuffer<Memory>

    public init(format: LPCMFormat, bands: [EqualizerBand]) {
        self.format = format
        bandCount = bands.count
        let flat = EqualizerBand(frequency: 1_000, gain: 0)
        self.bands = FixedBuffer(repeating: flat, count: max(bandCount, 1))
        filters = FixedBuffer(repeating: Filter(flat, format.rate), count: max(bandCount, 1))
        memories = FixedBuffer(repeating: Memory(), count: max(bandCount * format.channelCount, 1))
        for index in 0..<bandCount {
            self.bands[index] = bands[index]
            filters[index] = Filter(bands[index], format.rate)
        }
    }

    /// The band at `index`, 0..<`bandCount`. A new value takes effect within 10 ms, without a click.
    public subscript(index: Int) -> EqualizerBand {
        get { bands[index] }
        set {
            precondition(index < bandCount, "the number of bands is fixed")
            bands[index] = newValue
            filters[index].approach(Biquad(newValue, format.rate), within: max(format.rate.hertz / 100, 1))
        }
    }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        let channelCount = format.channelCount
        for band in 0..<bandCount {
            var filter = filters[band]
            var index = 0
            while index + channelCount <= samples.count {
                filter.advance()
                for channel in 0..<channelCount {
                    samples[index] = memories[band * channelCount + channel].pass(samples[index], through: filter.now)
                    index += 1
                }
            }
            filters[band] = filter
        }
    }

    public mutating func clear() {
        for index in 0..<memories.count { memories[index] = Memory() }
        for index in 0..<filters.count { filters[index].finish() }
    }

    /// The state of a biquad in transposed direct form II.
    struct Memory: BitwiseCopyable, Sendable {
        private var first = 0.0
        private var second = 0.0

        @_noAllocation @_noLocks
        mutating func pass(_ sample: Float, through filter: Biquad) -> Float {
            let input = Double(sample)
            let output = filter.b0 * input + first
            first = filter.b1 * input - filter.a1 * output + second
            second = filter.b2 * input - filter.a2 * output
            return Float(output)
        }
    }

    /// A biquad that is interpolated towards another biquad. An interpolation between two stable filters is stable.
    struct Filter: BitwiseCopyable, Sendable {
        private(set) var now: Biquad
        private var target: Biquad
        private var step = Biquad(b0: 0, b1: 0, b2: 0, a1: 0, a2: 0)
        private var framesLeft = 0

        init(_ band: EqualizerBand, _ rate: SampleRate) {
            now = Biquad(band, rate)
            target = now
        }

        mutating func approach(_ target: Biquad, within frames: Int) {
            self.target = target
            framesLeft = frames
            let share = 1 / Double(frames)
            step = Biquad(
                b0: (target.b0 - now.b0) * share, b1: (target.b1 - now.b1) * share, b2: (target.b2 - now.b2) * share,
                a1: (target.a1 - now.a1) * share, a2: (target.a2 - now.a2) * share)
        }

        mutating func finish() { (now, framesLeft) = (target, 0) }

        @_noAllocation @_noLocks
        mutating func advance() {
            guard framesLeft > 0 else { return }
            framesLeft -= 1
            guard framesLeft > 0 else {
                now = target
                return
            }
            now = Biquad(
                b0: now.b0 + step.b0, b1: now.b1 + step.b1, b2: now.b2 + step.b2, a1: now.a1 + step.a1,
                a2: now.a2 + step.a2)
        }
    }
}
