/// Collects delays with a resolution of 0.1 ms, for their mean, maximum and quantiles.
public struct DelaySamples: Hashable, Sendable {
    public private(set) var count = 0
    private var sum = Duration.zero
    private var highest: Duration?
    /// The number of samples for each delay in units of 0.1 ms.
    private var counts: [Int: Int] = [:]

    /// The maximum delay, in units of 0.1 ms: one day. A longer delay counts as one day.
    private static let limit = 864e6

    public init() {}

    public mutating func add(_ delay: Duration) {
        count += 1
        sum += delay
        highest = highest.map { max($0, delay) } ?? delay
        let tenths = (delay / .microseconds(100)).rounded()
        counts[Int(min(max(tenths, -Self.limit), Self.limit)), default: 0] += 1
    }

    public mutating func add(_ others: Self) {
        count += others.count
        sum += others.sum
        if let theirs = others.highest { highest = highest.map { max($0, theirs) } ?? theirs }
        counts.merge(others.counts, uniquingKeysWith: +)
    }

    /// The mean delay; nil without samples.
    public var mean: Duration? { count > 0 ? sum / count : nil }

    public var maximum: Duration? { highest }

    /// Returns the delay that a proportion of `share` (0…1) of the samples did not exceed; nil without samples.
    public func quantile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        var rest = Int(Double(count - 1) * min(max(share, 0), 1))
        for (tenths, number) in counts.sorted(by: { $0.key < $1.key }) {
            if rest < number { return highest.map { min($0, .microseconds(100 * tenths)) } }
            rest -= number
        }
        return highest
    }
}
