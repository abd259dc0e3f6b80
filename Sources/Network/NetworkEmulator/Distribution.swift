private import Glibc
private import TenfourAudioCore
internal import TenfourSeededRandom

/// The distribution of a random delay.
///
/// Delays are never negative. Each drawn delay, except a `constant` one, is a whole number of microseconds. So a trace
/// contains it exactly, and a machine that rounds logarithms differently draws the same delay.
public enum Distribution: Hashable, Sendable {
    case constant(Duration)
    /// Uniform: all delays between the bounds are equally probable.
    case uniform(ClosedRange<Duration>)
    /// Normal; values outside 0…`limit` are set to the nearer bound.
    case normal(mean: Duration, deviation: Duration, limit: Duration)
    /// Exponential, as the time until a random event: often short, seldom long.
    case exponential(mean: Duration)
    /// The Erlang distribution: the sum of `shape` exponential delays. `shape` is 1…100; `mean` is the mean of the sum.
    case gamma(shape: Int, mean: Duration)
    /// Pareto: a delay is at least `least`, and exceeds x with the probability (`least` / x) to the power `shape`.
    /// Values above `limit` are set to `limit`. The tail is heavy: if `shape` is below 2, the rare long delays make up
    /// most of the sum of all delays.
    case pareto(least: Duration, shape: Double, limit: Duration)

    /// Returns a normal distribution with a mean of three deviations. Values are limited to 0…6 deviations.
    public static func normal(deviation: Duration) -> Self {
        .normal(mean: deviation * 3, deviation: deviation, limit: deviation * 6)
    }

    /// Draws the next delay, in nanoseconds.
    func draw(from generator: inout SeededRandom) -> Int64 {
        switch self {
        case .constant(let delay):
            return delay.asDelay
        case .uniform(let range):
            let least = nanoseconds(range.lowerBound)
            return microseconds(least + generator.unit() * (nanoseconds(range.upperBound) - least))
        case .normal(let mean, let deviation, let limit):
            // Transforms two random numbers into a normally distributed one: the cosine half of the Box-Muller
            // transform.
            let radius = (-2 * log(1 - generator.unit())).squareRoot()
            let normal = radius * cos(2 * .pi * generator.unit())
            return microseconds(nanoseconds(mean) + nanoseconds(deviation) * normal, limit: limit)
        case .exponential(let mean):
            return microseconds(nanoseconds(mean) * unitWait(from: &generator))
        case .gamma(let shape, let mean):
            let stages = min(max(shape, 1), 100)
            var sum = 0.0
            for _ in 0..<stages { sum += unitWait(from: &generator) }
            return microseconds(nanoseconds(mean) / Double(stages) * sum)
        case .pareto(let least, let shape, let limit):
            return microseconds(nanoseconds(least) * pow(1 - generator.unit(), -1 / shape), limit: limit)
        }
    }
}

extension Duration {
    /// The duration in nanoseconds, limited to 0…1 day, so that the sum of a few delays never overflows.
    var asDelay: Int64 { min(max(0, Instant.nanoseconds(in: self)), 86_400_000_000_000) }
}

/// Draws a number from the exponential distribution with a mean of one.
private func unitWait(from generator: inout SeededRandom) -> Double { -log(1 - generator.unit()) }

private func nanoseconds(_ duration: Duration) -> Double { Double(Instant.nanoseconds(in: duration)) }

/// Rounds `delay`, in nanoseconds, to a whole microsecond, and limits it to 0…`limit`. NaN becomes the limit.
private func microseconds(_ delay: Double, limit: Duration = .seconds(86_400)) -> Int64 {
    let limit = Double(limit.asDelay)
    let cut = delay < limit ? max(delay, 0) : limit
    return Int64((cut / 1000).rounded()) * 1000
}
