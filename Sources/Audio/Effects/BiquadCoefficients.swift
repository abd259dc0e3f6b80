internal import Glibc
public import TenfourAudioCore

/// The coefficients of y = b0 x + b1 x₋₁ + b2 x₋₂ − a1 y₋₁ − a2 y₋₂, by the Audio EQ Cookbook, with a0 = 1.
public struct BiquadCoefficients: Hashable, BitwiseCopyable, Sendable {
    public var b0, b1, b2, a1, a2: Double

    /// The filter that changes nothing.
    public static var identity: Self {
        @_noAllocation @_noLocks get { Self(b0: 1, b1: 0, b2: 0, a1: 0, a2: 0) }
    }

    @_noAllocation @_noLocks
    public init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
        (self.b0, self.b1, self.b2, self.a1, self.a2) = (b0, b1, b2, a1, a2)
    }

    /// Throws `.outOfRange` if a value of `design` cannot be used at `rate`.
    public init(_ design: FilterDesign, at rate: SampleRate) throws(EffectError) {
        try design.check(at: rate)
        self.init(limiting: design, at: rate)
    }

    /// Limits each value of `design` to its range.
    init(limiting design: FilterDesign, at rate: SampleRate) {
        let design = design.limited(at: rate)
        let angle = 2 * Double.pi * design.frequency / Double(rate.hertz)
        switch design.shape {
        case .lowPassFirstOrder: self.init(firstOrder: angle, isHighPass: false)
        case .highPassFirstOrder: self.init(firstOrder: angle, isHighPass: true)
        case .lowPass, .highPass, .bandPass, .bandPassSkirt, .notch, .allPass:
            self.init(passing: design.shape, cosine: cos(angle), sine: sin(angle), alpha: Self.alpha(design, angle))
        case .peak, .lowShelf, .highShelf:
            let amplitude = pow(10, design.gain / 40)
            self.init(
                raising: design.shape, cosine: cos(angle), alpha: Self.alpha(design, angle), amplitude: amplitude)
        }
    }

    /// The gain at `frequency` in hertz, in decibels; −infinity where nothing passes.
    public func gain(at frequency: Double, rate: SampleRate) -> Double {
        let angle = 2 * Double.pi * frequency / Double(rate.hertz)
        let (cosine, sine) = (cos(angle), sin(angle))
        let (cosine2, sine2) = (cos(2 * angle), sin(2 * angle))
        let above = hypot(b0 + b1 * cosine + b2 * cosine2, b1 * sine + b2 * sine2)
        let below = hypot(1 + a1 * cosine + a2 * cosine2, a1 * sine + a2 * sine2)
        return 20 * log10(above / below)
    }

    /// The cookbook's α, which stands for the width.
    private static func alpha(_ design: FilterDesign, _ angle: Double) -> Double {
        let sine = sin(angle)
        switch design.width {
        case .q(let q): return sine / (2 * q)
        case .octaves(let octaves): return sine * sinh(0.5 * log(2) * octaves * angle / sine)
        case .slope(let slope):
            let amplitude = pow(10, design.gain / 40)
            return sine / 2 * ((amplitude + 1 / amplitude) * (1 / slope - 1) + 2).squareRoot()
        }
    }

    /// Divides by `a0`.
    private init(_ b0: Double, _ b1: Double, _ b2: Double, _ a0: Double, _ a1: Double, _ a2: Double) {
        self.init(b0: b0 / a0, b1: b1 / a0, b2: b2 / a0, a1: a1 / a0, a2: a2 / a0)
    }

    /// A filter of first order by the bilinear transform, with −3 dB at `angle`.
    private init(firstOrder angle: Double, isHighPass: Bool) {
        let tangent = tan(angle / 2)
        if isHighPass {
            self.init(1, -1, 0, 1 + tangent, tangent - 1, 0)
        } else {
            self.init(tangent, tangent, 0, 1 + tangent, tangent - 1, 0)
        }
    }

    private init(passing shape: FilterDesign.Shape, cosine: Double, sine: Double, alpha: Double) {
        let (a0, a1, a2) = (1 + alpha, -2 * cosine, 1 - alpha)
        switch shape {
        case .lowPass: self.init((1 - cosine) / 2, 1 - cosine, (1 - cosine) / 2, a0, a1, a2)
        case .highPass: self.init((1 + cosine) / 2, -1 - cosine, (1 + cosine) / 2, a0, a1, a2)
        case .bandPass: self.init(alpha, 0, -alpha, a0, a1, a2)
        case .bandPassSkirt: self.init(sine / 2, 0, -sine / 2, a0, a1, a2)
        case .notch: self.init(1, -2 * cosine, 1, a0, a1, a2)
        default: self.init(1 - alpha, -2 * cosine, 1 + alpha, a0, a1, a2)
        }
    }

    private init(raising shape: FilterDesign.Shape, cosine: Double, alpha: Double, amplitude: Double) {
        let slope = 2 * amplitude.squareRoot() * alpha
        let (more, less) = (amplitude + 1, amplitude - 1)
        switch shape {
        case .lowShelf:
            self.init(
                amplitude * (more - less * cosine + slope), 2 * amplitude * (less - more * cosine),
                amplitude * (more - less * cosine - slope), more + less * cosine + slope,
                -2 * (less + more * cosine), more + less * cosine - slope)
        case .highShelf:
            self.init(
                amplitude * (more + less * cosine + slope), -2 * amplitude * (less + more * cosine),
                amplitude * (more + less * cosine - slope), more - less * cosine + slope,
                2 * (less - more * cosine), more - less * cosine - slope)
        default:
            self.init(
                1 + alpha * amplitude, -2 * cosine, 1 - alpha * amplitude, 1 + alpha / amplitude, -2 * cosine,
                1 - alpha / amplitude)
        }
    }
}
