/// A text in Prometheus' exposition format 0.0.4. Each metric is added once, with its help, its type and all of its
/// samples.
public struct MetricsText: Sendable, Equatable {
    public private(set) var text = ""

    /// The media type of the text, for `Content-Type`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    public enum Kind: String, Sendable {
        /// A count that only rises, and begins at zero when the process starts. Its name ends with `_total`.
        case counter
        /// A value that rises and falls.
        case gauge
    }

    /// The labels that a sample may have. The value of each label comes from the configuration or from a bounded
    /// table, because a monitoring system stores a series for each combination of values for months.
    public enum Label: String, Sendable {
        case channel, peer, direction, reason, version
    }

    public struct Sample: Sendable, Equatable {
        public var labels: [(Label, String)]
        public var value: Double

        public init(_ value: Double, _ labels: (Label, String)...) {
            (self.value, self.labels) = (value, labels)
        }

        public init(_ value: Int, _ labels: (Label, String)...) {
            (self.value, self.labels) = (Double(value), labels)
        }

        public init(_ value: Duration, _ labels: (Label, String)...) {
            (self.value, self.labels) = (value / .seconds(1), labels)
        }

        public static func == (left: Self, right: Self) -> Bool {
            left.value == right.value && left.labels.elementsEqual(right.labels, by: ==)
        }
    }

    public init() {}

    /// Adds a metric. `help` is a sentence that states the unit, unless the name does. Adds nothing without samples.
    public mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        precondition(name.hasSuffix("_total") == (kind == .counter), "only a counter's name ends with _total: \(name)")
        if samples.isEmpty { return }
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.0.rawValue)=\"\(Self.escaped($0.1, quotes: true))\"" }
            text += name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
            text += " \(Self.number(sample.value))\n"
        }
    }

    /// Adds a metric with a single sample.
    public mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        add(name, kind, help, [Sample(value)])
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Writes whole numbers without a fraction, as counters usually are written.
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
