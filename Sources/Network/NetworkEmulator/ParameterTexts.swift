private import TenfourAudioCore

// Text forms of the parts of a model, as written after `jitter=`, `stalls=` and the like. `parts` is the text between
// the colons, without spaces.

extension Distribution {
    init?(_ parts: [Substring]) {
        switch (parts[0].lowercased(), parts.count) {
        case ("constant", 2):
            guard let delay = duration(parts[1]) else { return nil }
            self = .constant(delay)
        case ("uniform", 2):
            guard let bounds = span(parts[1]) else { return nil }
            self = .uniform(bounds)
        case ("normal", 2):
            guard let deviation = duration(parts[1]) else { return nil }
            self = .normal(deviation: deviation)
        case ("normal", 3):
            guard let mean = duration(parts[1]), let deviation = duration(parts[2]) else { return nil }
            self = .normal(mean: mean, deviation: deviation, limit: mean + deviation * 3)
        case ("exponential", 2):
            guard let mean = duration(parts[1]) else { return nil }
            self = .exponential(mean: mean)
        case ("gamma", 3):
            guard let shape = Int(parts[1]), (1...100).contains(shape), let mean = duration(parts[2]) else {
                return nil
            }
            self = .gamma(shape: shape, mean: mean)
        case ("pareto", 4):
            guard let least = duration(parts[1]), let limit = duration(parts[3]), least <= limit,
                let shape = Double(parts[2]), (0.1...100).contains(shape)
            else { return nil }
            self = .pareto(least: least, shape: shape, limit: limit)
        default:
            return nil
        }
    }

    var text: String {
        switch self {
        case .constant(let delay): "constant:" + written(delay)
        case .uniform(let range): "uniform:" + written(range.lowerBound) + "-" + written(range.upperBound)
        case .normal(let mean, let deviation, _):
            mean == deviation * 3
                ? "normal:" + written(deviation) : "normal:" + written(mean) + ":" + written(deviation)
        case .exponential(let mean): "exponential:" + written(mean)
        case .gamma(let shape, let mean): "gamma:\(shape):" + written(mean)
        case .pareto(let least, let shape, let limit):
            "pareto:" + written(least) + ":" + written(number: shape) + ":" + written(limit)
        }
    }
}

extension Stalls {
    init?(_ parts: [Substring]) {
        let halves = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 1, halves.count == 2, let length = span(halves[0]), let interval = duration(halves[1]),
            interval >= .milliseconds(1)
        else { return nil }
        self.init(length: length, meanInterval: interval)
    }

    var text: String {
        written(length.lowerBound) + "-" + written(length.upperBound) + "/" + written(meanInterval)
    }
}

extension Detour {
    init?(_ parts: [Substring]) {
        guard parts.count == 2, let extra = duration(parts[0]) else { return nil }
        let halves = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count <= 2, let window = span(halves[0]) else { return nil }
        let period = halves.count == 2 ? duration(halves[1]) : nil
        guard halves.count == 1 || (period ?? .zero) >= window.upperBound else { return nil }
        self.init(extra: extra, during: window.lowerBound..<window.upperBound, every: period)
    }

    var text: String {
        written(extra) + ":" + written(window.lowerBound) + "-" + written(window.upperBound)
            + (period.map { "/" + written($0) } ?? "")
    }
}

extension Reordering {
    init?(_ parts: [Substring]) {
        guard let share = percentage(parts[0]), parts.count <= 2 else { return nil }
        self.init(share: share)
        guard parts.count == 2 else { return }
        guard let heldBack = duration(parts[1]) else { return nil }
        self.heldBack = heldBack
    }

    var text: String { written(share: share) + ":" + written(heldBack) }
}

extension Duplication {
    init?(_ parts: [Substring]) {
        guard let share = percentage(parts[0]), parts.count <= 2 else { return nil }
        self.init(share: share)
        guard parts.count == 2 else { return }
        guard let after = duration(parts[1]) else { return nil }
        self.after = after
    }

    var text: String { written(share: share) + ":" + written(after) }
}

extension Loss {
    /// The parameters that describe this loss.
    var texts: [String] {
        switch self {
        case .none: []
        case .random(let share): ["loss=" + written(share: share)]
        case .bursts(let share, let meanLength):
            ["loss=" + written(share: share), "burst=" + written(number: meanLength)]
        case .gilbertElliott(let toBad, let toGood, let lossInGood, let lossInBad):
            ["gilbert=" + [toBad, toGood, lossInGood, lossInBad].map { written(share: $0) }.joined(separator: ":")]
        }
    }
}

extension Bottleneck {
    /// The parameters that describe this bottleneck.
    var texts: [String] {
        let queue =
            switch queue {
            case .time(let longest): written(longest)
            case .byteCount(let bytes): "\(bytes)B"
            }
        return ["rate=" + written(bitsPerSecond: bitsPerSecond), "queue=" + queue, "header=\(headerByteCount)"]
    }
}

/// Reads a range of durations such as `100ms-200ms`; nil if the second duration is less than the first.
private func span(_ text: Substring) -> ClosedRange<Duration>? {
    let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map(duration)
    guard bounds.count == 2, let least = bounds[0], let most = bounds[1], least <= most else { return nil }
    return least...most
}
