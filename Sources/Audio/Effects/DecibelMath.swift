internal import Glibc

/// Conversions for audio threads. The compiler cannot look into the functions of libm, which neither allocate nor lock.
enum DecibelMath {
    /// Returns 10^(`decibels` / 20).
    @_semantics("no_performance_analysis")
    static func amplitude(_ decibels: Double) -> Double { exp(decibels * 0.115_129_254_649_702_29) }

    /// Returns 20 log10(`amplitude`); `amplitude` is above 0.
    @_semantics("no_performance_analysis")
    static func decibels(ofAmplitude amplitude: Double) -> Double { 20 * log10(amplitude) }

    /// Returns 10 log10(`power`); `power` is above 0.
    @_semantics("no_performance_analysis")
    static func decibels(ofPower power: Double) -> Double { 10 * log10(power) }

    @_semantics("no_performance_analysis")
    static func squareRoot(_ value: Float) -> Float { value.squareRoot() }

    /// Returns the proportion by which a first-order filter approaches its input in one frame, if it approaches by
    /// 63 % in `seconds`.
    @_semantics("no_performance_analysis")
    static func share(seconds: Double, rate: Int) -> Double {
        seconds * Double(rate) > 1 ? 1 - exp(-1 / (seconds * Double(rate))) : 1
    }
}
