public import TenfourAudioCore

/// A chain of filters, each a biquad of double precision.
///
///     var filter = try BiquadFilter(format: .stereo, [FilterDesign(.highPass, frequency: 80)])
///     try filter.set([FilterDesign(.highPass, frequency: 120), FilterDesign(.peak, frequency: 3_000, gain: 3)])
///
/// A change takes effect within 10 ms, without a click, also if the number of filters changes. For one thread at a time,
/// which may be an audio thread: `apply` neither allocates nor blocks.
public struct BiquadFilter: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat
    /// The largest number of filters.
    public let capacity: Int

    private var ramps: FixedBuffer<BiquadRamp>
    /// The states, one per filter and channel.
    private var states: FixedBuffer<BiquadState>

    /// Creates a chain that changes nothing, with room for `capacity` filters, at least one.
    public init(format: LPCMFormat, capacity: Int = 16) {
        self.format = format
        self.capacity = max(capacity, 1)
        ramps = FixedBuffer(repeating: BiquadRamp(.identity), count: self.capacity)
        states = FixedBuffer(repeating: BiquadState(), count: self.capacity * format.channelCount)
    }

    /// Creates a chain of `designs`, with room for `capacity` filters or as many as `designs` has. Throws `.outOfRange`
    /// if one cannot be used at the rate of `format`.
    public init(format: LPCMFormat, _ designs: [FilterDesign], capacity: Int = 16) throws(EffectError) {
        for design in designs { try design.check(at: format.rate) }
        self.init(format: format, capacity: max(capacity, designs.count))
        for (index, design) in designs.enumerated() {
            ramps[index] = BiquadRamp(BiquadCoefficients(limiting: design, at: format.rate))
        }
    }

    /// Changes the chain to `designs`. Changes nothing if it throws.
    public mutating func set(_ designs: [FilterDesign]) throws(EffectError) {
        guard designs.count <= capacity else { throw .tooManyFilters(count: designs.count, limit: capacity) }
        for design in designs { try design.check(at: format.rate) }
        for index in 0..<capacity { setLimited(index < designs.count ? designs[index] : nil, at: index) }
    }

    /// Changes the filter at `index`, 0..<`capacity`; nil changes nothing in the audio. Throws `.outOfRange` if `design`
    /// cannot be used.
    public mutating func set(_ design: FilterDesign?, at index: Int) throws(EffectError) {
        precondition(index >= 0 && index < capacity, "the number of filters is fixed")
        try design?.check(at: format.rate)
        setLimited(design, at: index)
    }

    /// Changes the filter at `index` to `design`, with each value limited to its range.
    mutating func setLimited(_ design: FilterDesign?, at index: Int) {
        let target = design.map { BiquadCoefficients(limiting: $0, at: format.rate) } ?? .identity
        ramps[index].approach(target, within: max(format.rate.hertz / 100, 1))
    }

    /// The gain of the whole chain at `frequency` in hertz, in decibels, after the present change.
    public func gain(at frequency: Double) -> Double {
        var sum = 0.0
        for index in 0..<capacity { sum += ramps[index].target.gain(at: frequency, rate: format.rate) }
        return sum
    }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        for section in 0..<capacity where !isIdle(section) {
            let start = ramps[section]
            var ramp = start
            for channel in 0..<format.channelCount {
                ramp = start
                var state = states[section * format.channelCount + channel]
                var index = channel
                while index < samples.count {
                    ramp.advance()
                    samples[index] = Float(state.pass(Double(samples[index]), through: ramp.now))
                    index += format.channelCount
                }
                state.tidy()
                states[section * format.channelCount + channel] = state
            }
            ramps[section] = ramp
        }
    }

    public mutating func clear() {
        for index in 0..<states.count { states[index] = BiquadState() }
        for index in 0..<capacity { ramps[index].finish() }
    }

    /// Whether the filter changes nothing.
    @_noAllocation @_noLocks
    private func isIdle(_ section: Int) -> Bool {
        guard ramps[section].isTransparent else { return false }
        for channel in 0..<format.channelCount where !states[section * format.channelCount + channel].isZero {
            return false
        }
        return true
    }
}
