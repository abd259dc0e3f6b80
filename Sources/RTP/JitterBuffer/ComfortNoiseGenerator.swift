internal import TenfourPackets

/// Generates the noise that packets of comfort noise describe (RFC 3389): white noise of 8 000 Hz through an all-pole
/// filter, interpolated to 48 000 Hz. All channels have the same samples.
///
/// Use it on the playback thread only. Nothing is allocated.
struct ComfortNoiseGenerator: BitwiseCopyable, Sendable {
    private var order = 0
    private var reflections = InlineArray<12, Float>(repeating: 0)
    /// The memory of the filter, a lattice.
    private var memory = InlineArray<12, Float>(repeating: 0)
    /// The largest sample of the white noise.
    private var amplitude: Float = 0
    private var random: UInt32
    /// The samples at 8 000 Hz around the next frame, and the number of frames since the first of them.
    private var (before, after, phase) = (Float(0), Float(0), 0)
    /// The number of frames that are left until the last description is too old.
    private var remaining = 0

    private static var ratio: Int { 6 }
    /// The largest sample of uniform noise whose RMS value is 1, after an interpolation that keeps 73 of 108 parts of the
    /// power of white noise: the square root of 3 · 108 / 73.
    private static var peak: Float { 2.106_74 }
    /// The maximum duration of noise after its last description: 60 s. The talker may have left unnoticed.
    private static var longest: Int { 2_880_000 }

    /// Creates a generator without noise. Generators with different seeds are not correlated.
    @_noAllocation @_noLocks
    init(seed: UInt32) { random = seed }

    /// Whether the description is still valid.
    var isValid: Bool { @_noAllocation @_noLocks get { remaining > 0 } }

    /// Generates noise of this description from now on.
    @_noAllocation @_noLocks
    mutating func set(_ noise: ComfortNoise) {
        order = noise.order
        amplitude = noise.excitation * Self.peak
        for index in 0..<order { reflections[index] = noise.reflection(index) }
        remaining = Self.longest
    }

    /// Returns the next sample at 48 000 Hz, from -1 to 1.
    @_noAllocation @_noLocks
    mutating func next() -> Float {
        remaining -= 1
        if phase == 0 { (before, after) = (after, filtered()) }
        let sample = before + (after - before) * Float(phase) / Float(Self.ratio)
        phase = phase + 1 < Self.ratio ? phase + 1 : 0
        return min(max(sample, -1), 1)
    }

    /// Returns the next sample at 8 000 Hz.
    @_noAllocation @_noLocks
    private mutating func filtered() -> Float {
        // Numerical Recipes, section 7.1: the upper bits are random enough for noise.
        random = random &* 1_664_525 &+ 1_013_904_223
        var forward = (Float(random >> 8) / 8_388_608 - 1) * amplitude
        guard order > 0 else { return forward }
        for index in stride(from: order - 1, through: 0, by: -1) {
            forward -= reflections[index] * memory[index]
            if index + 1 < order { memory[index + 1] = memory[index] + reflections[index] * forward }
        }
        // The filter of one description may be far from what the memory of another one expects.
        memory[0] = min(max(forward, -1), 1)
        return forward
    }
}
