/// The state of a biquad of one channel, in transposed direct form II. Its numbers are doubles: with a filter of 20 Hz,
/// singles would add noise at −60 dB.
struct BiquadState: BitwiseCopyable, Sendable {
    private var first = 0.0
    private var second = 0.0

    /// Whether the filter has forgotten its input.
    var isZero: Bool { @_noAllocation @_noLocks get { first == 0 && second == 0 } }

    @_noAllocation @_noLocks
    mutating func pass(_ input: Double, through filter: BiquadCoefficients) -> Double {
        let output = filter.b0 * input + first
        first = filter.b1 * input - filter.a1 * output + second
        second = filter.b2 * input - filter.a2 * output
        return output
    }

    /// Sets a state that has faded away to zero, since tiny numbers are slow, and forgets one that is not a number,
    /// since it would stay so for ever.
    @_noAllocation @_noLocks
    mutating func tidy() {
        let isAudible = first.magnitude > 1e-15 || second.magnitude > 1e-15
        if !isAudible || !first.isFinite || !second.isFinite { (first, second) = (0, 0) }
    }
}

/// Coefficients that change linearly towards others.
///
/// The coefficients are ramped and not cross-faded with a second filter: a ramp keeps the state, so low notes go on
/// where a new filter would have to start from silence. It is stable, because the stable pairs of a1 and a2 form a
/// triangle, which holds the line between any two of its points.
struct BiquadRamp: BitwiseCopyable, Sendable {
    private(set) var now: BiquadCoefficients
    private(set) var target: BiquadCoefficients
    private var step = BiquadCoefficients(b0: 0, b1: 0, b2: 0, a1: 0, a2: 0)
    private var framesLeft = 0

    init(_ coefficients: BiquadCoefficients) {
        now = coefficients
        target = coefficients
    }

    /// Whether the filter passes its input unchanged, and will not change.
    var isTransparent: Bool {
        @_noAllocation @_noLocks get { framesLeft == 0 && now.b0 == 1 && now.b1 == now.a1 && now.b2 == now.a2 }
    }

    mutating func approach(_ target: BiquadCoefficients, within frames: Int) {
        guard target != self.target else { return }
        self.target = target
        framesLeft = frames
        let share = 1 / Double(frames)
        step = BiquadCoefficients(
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
        now = BiquadCoefficients(
            b0: now.b0 + step.b0, b1: now.b1 + step.b1, b2: now.b2 + step.b2, a1: now.a1 + step.a1,
            a2: now.a2 + step.a2)
    }
}
