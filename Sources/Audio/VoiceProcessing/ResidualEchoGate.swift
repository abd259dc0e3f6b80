internal import Glibc

/// Attenuates what an echo canceller leaves of the echo while nobody talks at the near end.
///
/// It compares the power after cancellation with the power of the cancelled echo. Their usual ratio is what the
/// canceller leaves; a ratio that is clearly higher means that somebody talks. The gate never attenuates below the
/// background noise, so that the other end does not hear the noise come and go.
///
/// Use it on one thread at a time. Nothing is allocated after `init`.
public struct ResidualEchoGate: Sendable {
    /// Whether the gate passes all of the near end: somebody talks there, or there is no echo.
    public var isOpen: Bool { openness > 0.5 }

    /// The attenuation of a closed gate in decibels.
    private static var depth: Float { -50 }
    /// How far above the usual ratio, in decibels, the gate is half open; within the limits of `thresholds`.
    private static var margin: Float { 9 }
    /// The upper limit lies half of `span` below 0 dB, so that a near end without any echo is passed unchanged.
    private static var thresholds: ClosedRange<Float> { -12.5 ... -3 }
    /// The ratios over which the gate opens, in decibels.
    private static var span: Float { 6 }
    /// The number of blocks for which an open gate stays open.
    private static var hold: Int { 4 }

    private var restBand = SpeechBand()
    private var echoBand = SpeechBand()
    private var restPower: Float = 1e-12
    private var echoPower: Float = 1e-12
    /// The ratio that the canceller usually leaves, in decibels.
    private var usualRatio: Float = -3
    private var openness: Float = 1
    private var held = 0
    private var smoothed: Float?
    private var noise: Float = 1e-9
    private var lastGain: Float = 1

    public init() {}

    /// Attenuates a block after cancellation, `rest`, of which `echo` was subtracted.
    ///
    /// Audio thread. Exempt from the compiler's allocation check, which does not see into logarithms. Reviewed by hand:
    /// nothing is allocated or freed here.
    @_semantics("no_performance_analysis")
    public mutating func process(_ rest: inout MutableSpan<Float>, echo: Span<Float>) {
        guard !rest.isEmpty else { return }
        var (restNow, echoNow): (Float, Float) = (0, 0)
        for index in rest.indices {
            let (a, b) = (restBand.filter(rest[index]), echoBand.filter(echo[index]))
            restNow += a * a
            echoNow += b * b
        }
        restNow /= Float(rest.count)
        echoNow /= Float(rest.count)
        follow(restNow, echoNow)
        var gain = powf(10, Self.depth * (1 - openness) / 20)
        gain = max(gain, min(1, sqrtf(0.25 * noise / (restNow + 1e-14))))
        let step = (gain - lastGain) / Float(rest.count)
        for index in rest.indices { rest[index] *= lastGain + step * Float(index + 1) }
        lastGain = gain
    }

    private mutating func follow(_ restNow: Float, _ echoNow: Float) {
        let level = smoothed.map { 0.8 * $0 + 0.2 * restNow } ?? restNow
        smoothed = level
        noise = level < noise ? 0.9 * noise + 0.1 * level : min(noise * 1.001, 1)
        restPower = 0.9 * restPower + 0.1 * max(restNow - 2 * noise, 0)
        echoPower = 0.9 * echoPower + 0.1 * echoNow
        let ratio = 10 * log10f((restPower + 1e-14) / (restPower + echoPower + 1e-14))
        if echoNow > 4 * noise {
            let difference = max(-10, min(ratio - usualRatio, 10))
            usualRatio += (difference < 0 ? 0.05 : 0.001) * difference
            usualRatio = max(-30, min(usualRatio, -1))
        }
        let threshold = max(Self.thresholds.lowerBound, min(usualRatio + Self.margin, Self.thresholds.upperBound))
        let hasEcho = echoPower > 0.25 * noise && echoPower > 1e-11
        let wanted = hasEcho ? max(0, min((ratio - threshold) / Self.span + 0.5, 1)) : 1
        if wanted >= openness {
            openness = wanted
            held = Self.hold
        } else if held > 0 {
            held -= 1
        } else {
            openness = max(wanted, 0.6 * openness)
        }
    }
}

/// Passes the frequencies from 250 Hz to 5 kHz, in which speech is strong and echo is well known. For 48 000 Hz.
struct SpeechBand: Sendable {
    private var low: Float = 0
    private var wide: Float = 0

    mutating func filter(_ sample: Float) -> Float {
        low += 0.032 * (sample - low)
        wide += 0.48 * (sample - low - wide)
        return wide
    }
}
