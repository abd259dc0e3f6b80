private import Glibc
private import TenfourAudioCore

/// How a delay that changes from packet to packet is spread.
///
/// Never negative. Apart from `constant` each delay drawn is a whole number of microseconds: a trace holds it exactly, and
/// the last bit of a machine's logarithm does not matter.
public enum Distribution: Hashable, Sendable {
    case constant(Duration)
    /// Evenly between the bounds.
    case uniform(ClosedRange<Duration>)
    /// Bell-shaped; what falls outside 0…`limit` is set to that bound.
    case normal(mean: Duration, deviation: Duration, limit: Duration)
    /// Often short, seldom long: the wait for something that comes at random.
    case exponential(mean: Duration)
    /// The sum of `shape` exponential waits (1…100) in a row, `mean` in all: Erlang's distribution.
    case gamma(shape: Int, mean: Duration)
    /// At least `least`, and longer than x in (`least` / x) to the power `shape` of the cases; what is above `limit` is set
    /// to it. A heavy tail: at shapes below 2 the rare long delays are most of the sum.
    case pareto(least: Duration, shape: Double, limit: Duration)

    /// A normal distribution that lies three deviations above zero and is cut at six.
    public static func normal(deviation: Duration) -> Self {
        .normal(mean: deviation * 3, deviation: deviation, limit: deviation * 6)
    }

    /// The next delay, in nanoseconds.
    func draw(from generator: inout SeededRandom) -> Int64 {
        switch self {
        case .constant(let delay):
            return delay.asDelay
        case .uniform(let range):
            let least = nanoseconds(range.lowerBound)
            return microseconds(least + generator.unit() * (nanoseconds(range.upperBound) - least))
        case .normal(let mean, let deviation, let limit):
            // Box and Muller's transform, the cosine half: always two numbers a draw.
            let radius = (-2 * log(1 - generator.unit())).squareRoot()
            let bell = radius * cos(2 * .pi * generator.unit())
            return microseconds(nanoseconds(mean) + nanoseconds(deviation) * bell, limit: limit)
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
    /// In nanoseconds, cut to 0…1 day: sums of a few delays never overflow.
    var asDelay: Int64 { min(max(0, Instant.nanoseconds(in: self)), 86_400_000_000_000) }
}

/// With a mean of one.
private func unitWait(from generator: inout SeededRandom) -> Double { -log(1 - generator.unit()) }

private func nanoseconds(_ duration: Duration) -> Double { Double(Instant.nanoseconds(in: duration)) }

/// `delay` in nanoseconds, cut to 0…`limit` and rounded to a whole microsecond. What is no number is the limit.
private func microseconds(_ delay: Double, limit: Duration = .seconds(86_400)) -> Int64 {
    let limit = Double(limit.asDelay)
    let cut = delay < limit ? max(delay, 0) : limit
    return Int64((cut / 1000).rounded()) * 1000
}
