internal import Glibc
public import TenfourAudioCore

/// Measures loudness by EBU R 128 and ITU-R BS.1770-4, in loudness units below full scale (LUFS), while audio passes.
///
/// Its memory does not grow: the blocks of the integrated loudness are kept as a histogram in steps of 0.1 LU, with the
/// exact sum of each step. For one thread at a time; allocates nothing after `init`.
public struct LoudnessMeter: ~Copyable, Sendable {
    public let format: LPCMFormat

    /// The filter of the head, and the filter that removes low frequencies.
    private let shelf: BiquadCoefficients
    private let highPass: BiquadCoefficients
    /// The states of both filters, per channel.
    private var states: FixedBuffer<BiquadState>
    /// The number of frames of a step: 100 ms.
    private let stepFrameCount: Int
    /// The frames in the present step, and the sum of their weighted squares.
    private var frameCount = 0
    private var sum = 0.0
    /// The mean squares of the last 30 steps, a ring.
    private var steps: FixedBuffer<Double>
    /// The number of steps in total.
    private(set) var stepCount = 0
    private var gate = LoudnessGate()

    public init(format: LPCMFormat) {
        self.format = format
        (shelf, highPass) = Self.weighting(at: format.rate)
        states = FixedBuffer(repeating: BiquadState(), count: 2 * format.channelCount)
        stepFrameCount = max(format.rate.hertz / 10, 1)
        steps = FixedBuffer(repeating: 0, count: 30)
    }

    /// The loudness of the last 400 ms; nil before.
    public var momentary: Double? { loudness(ofLast: 4) }
    /// The loudness of the last three seconds; nil before.
    public var shortTerm: Double? { loudness(ofLast: 30) }
    /// The loudness of all audio so far, without pauses and quiet passages; nil while nothing was above −70 LUFS.
    public var integrated: Double? {
        @_noAllocation @_noLocks get {
            guard let power = gate.power else { return nil }
            return Self.loudness(ofPower: power)
        }
    }
    /// The duration of the audio that has been measured, in steps of 100 ms.
    public var measured: Duration { .milliseconds(100 * stepCount) }

    /// Measures `samples` (interleaved). Returns the number of steps of 100 ms that were completed.
    @_noAllocation @_noLocks
    @discardableResult
    public mutating func append(_ samples: Span<Float>) -> Int {
        let channelCount = format.channelCount
        var completed = 0
        var index = 0
        while index + channelCount <= samples.count {
            for channel in 0..<channelCount {
                let weighted = weigh(samples[index], channel)
                sum += weighted * weighted * weight(of: channel)
                index += 1
            }
            frameCount += 1
            if frameCount == stepFrameCount {
                completeStep()
                completed += 1
            }
        }
        return completed
    }

    /// Forgets all that was measured, for example before the next song.
    public mutating func clear() {
        for index in 0..<states.count { states[index] = BiquadState() }
        (frameCount, sum, stepCount) = (0, 0, 0)
        gate.clear()
    }

    @_noAllocation @_noLocks
    private mutating func weigh(_ sample: Float, _ channel: Int) -> Double {
        let shelved = states[2 * channel].pass(Double(sample), through: shelf)
        return states[2 * channel + 1].pass(shelved, through: highPass)
    }

    /// The weight of a channel: 1.41 for the surround channels of 5.0 and 5.1, and 0 for the low-frequency channel.
    @_noAllocation @_noLocks
    private func weight(of channel: Int) -> Double {
        switch (format.channelCount, channel) {
        case (6, 3): 0
        case (5, 3...4), (6, 4...5): 1.41
        default: 1
        }
    }

    @_noAllocation @_noLocks
    private mutating func completeStep() {
        for index in 0..<states.count { states[index].tidy() }
        steps[stepCount % steps.count] = sum.isFinite ? sum / Double(frameCount) : 0
        stepCount += 1
        (frameCount, sum) = (0, 0)
        if stepCount >= 4 { gate.append(power(ofLast: 4)) }
    }

    @_noAllocation @_noLocks
    private func power(ofLast count: Int) -> Double {
        var sum = 0.0
        for index in stepCount - count..<stepCount { sum += steps[index % steps.count] }
        return sum / Double(count)
    }

    private func loudness(ofLast count: Int) -> Double? {
        guard stepCount >= count else { return nil }
        let power = power(ofLast: count)
        return power > 0 ? Self.loudness(ofPower: power) : -.infinity
    }

    @_noAllocation @_noLocks
    static func loudness(ofPower power: Double) -> Double { DecibelMath.decibels(ofPower: power) - 0.691 }

    /// The filters of BS.1770 at any rate. The standard has only the coefficients for 48 kHz; these come from the
    /// frequencies and qualities behind them (as in libebur128), and differ from the standard's by 0.001 dB.
    private static func weighting(at rate: SampleRate) -> (BiquadCoefficients, BiquadCoefficients) {
        // The standard's shelf is given by the frequency of its poles. Its centre lies lower by the fourth root of
        // its gain in amplitude, measured before the bilinear transform.
        let gain = 3.999_843_853_973_347
        let poles = tan(Double.pi * min(1_681.974_450_955_533 / Double(rate.hertz), 0.49))
        let centre = atan(poles / pow(10, gain / 80)) * Double(rate.hertz) / Double.pi
        let shelf = BiquadCoefficients(
            limiting: FilterDesign(
                .highShelf, frequency: centre, gain: gain, width: .q(0.707_175_236_955_419_6)), at: rate)
        var highPass = BiquadCoefficients(
            limiting: FilterDesign(
                .highPass, frequency: 38.135_470_876_024_44, width: .q(0.500_327_037_323_877_3)), at: rate)
        // The standard's numerator is 1, −2, 1.
        let unity = 1.004_994_9
        (highPass.b0, highPass.b1, highPass.b2) = (highPass.b0 * unity, highPass.b1 * unity, highPass.b2 * unity)
        return (shelf, highPass)
    }
}
