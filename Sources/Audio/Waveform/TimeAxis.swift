/// The labelled moments of a time axis.
struct TimeAxis {
    /// The moment at which the axis begins: zero, or the start of a part of a recording.
    let start: Duration
    let duration: Duration
    let step: Duration

    private static let steps: [Duration] =
        [1, 2, 5, 10, 20, 50, 100, 200, 500].map { .milliseconds($0) }
        + [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400].map {
            .seconds($0)
        }

    /// Creates an axis with at most about `count` labelled moments.
    init(_ duration: Duration, from start: Duration = .zero, atMost count: Int) {
        self.start = start
        self.duration = duration
        let fits = Self.steps.first { duration / $0 <= Double(max(count, 1)) }
        step = fits ?? .seconds(86_400) * Int(duration / .seconds(86_400) / Double(max(count, 1)) + 1)
    }

    /// The labelled moments, which are multiples of `step`.
    var moments: [Duration] {
        let first = Int((start / step).rounded(.up))
        return (first...max(Int((start + duration) / step), first)).map { step * $0 }
    }

    /// Formats a moment: `0.5`, `12`, `1:30`, `1:02:00`; in seconds if the axis ends before a minute, or if its moments
    /// are less than a second apart.
    func text(_ moment: Duration) -> String {
        start + duration < .seconds(60) || step < .seconds(1) ? seconds(moment) : timecode(moment)
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

/// Formats a time as `1:30`, with tenths or hundredths of a second if it lies between seconds: `0:00.7`, `1:02:00.25`.
public func exactTimecode(_ moment: Duration) -> String {
    let hundredths = Int((moment / .milliseconds(10)).rounded())
    let rest = hundredths % 100
    let whole = timecode(.seconds(hundredths / 100))
    guard rest != 0 else { return whole }
    return whole + "." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
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
