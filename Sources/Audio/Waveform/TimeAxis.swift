/// The labelled moments of a time axis.
struct TimeAxis {
    let duration: Duration
    let step: Duration

    private static let steps: [Duration] =
        [1, 2, 5, 10, 20, 50, 100, 200, 500].map { .milliseconds($0) }
        + [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400].map {
            .seconds($0)
        }

    /// Creates an axis with at most `count` labelled moments.
    init(_ duration: Duration, atMost count: Int) {
        self.duration = duration
        let fits = Self.steps.first { duration / $0 <= Double(max(count, 1)) }
        step = fits ?? .seconds(86_400) * Int(duration / .seconds(86_400) / Double(max(count, 1)) + 1)
    }

    var moments: [Duration] { (0...max(Int(duration / step), 0)).map { step * $0 } }

    /// Formats a moment: `0.5`, `12`, `1:30`, `1:02:00`; in seconds if the axis is shorter than a minute.
    func text(_ moment: Duration) -> String {
        duration < .seconds(60) ? seconds(moment) : timecode(moment)
    }

    private func seconds(_ moment: Duration) -> String {
        let places = step < .milliseconds(10) ? 3 : step < .milliseconds(100) ? 2 : step < .seconds(1) ? 1 : 0
        return fixed(moment / .seconds(1), places: places) + " s"
    }
}

/// Formats a time as `1:30` or `1:02:00`, without fractions of a second.
public func timecode(_ moment: Duration) -> String {
    let seconds = Int(moment.components.seconds)
    let parts = seconds < 3_600 ? [seconds / 60, seconds % 60] : [seconds / 3_600, seconds / 60 % 60, seconds % 60]
    return parts.enumerated().map { $0 == 0 || $1 > 9 ? "\($1)" : "0\($1)" }.joined(separator: ":")
}

/// Formats a number with `places` decimal places.
func fixed(_ number: Double, places: Int) -> String {
    let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
    let whole = Int((number.magnitude * Double(scale)).rounded())
    let digits = String(whole % scale)
    let sign = number < 0 && whole > 0 ? "−" : ""
    return "\(sign)\(whole / scale)"
        + (places > 0 ? "." + String(repeating: "0", count: places - digits.count) + digits : "")
}
