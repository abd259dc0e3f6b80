/// A setting of an effect that cannot be used. `description` is a sentence with the remedy.
public enum EffectError: Error, Equatable, CustomStringConvertible, Sendable {
    /// A value lies outside its range. `name` says what it is, such as `frequency`, and `unit` is empty or such as `Hz`.
    case outOfRange(name: String, value: Double, range: ClosedRange<Double>, unit: String)
    /// There are more filters than fit.
    case tooManyFilters(count: Int, limit: Int)
    /// The text has more than `limit` bytes.
    case textTooLong(limit: Int)
    /// No filter has this name.
    case unknownFilter(String)
    /// The text is not a number where a number must be.
    case notANumber(String, filter: String)
    /// The filter has too few or too many values. `form` is how it is written.
    case wrongForm(filter: String, form: String)
    /// There is nothing between two commas, or no text at all.
    case emptyFilter

    public var description: String {
        switch self {
        case .outOfRange(let name, let value, let range, let unit):
            let suffix = unit.isEmpty ? "" : " \(unit)"
            return
                "the \(name) \(Decimal.text(value)) is out of range: write \(Decimal.text(range.lowerBound)) to \(Decimal.text(range.upperBound))\(suffix)"
        case .tooManyFilters(let count, let limit): return "\(count) filters are too many: write at most \(limit)"
        case .textTooLong(let limit): return "the filters are too long: write at most \(limit) characters"
        case .unknownFilter(let name):
            return "there is no filter \"\(name)\": write one of \(FilterText.names.joined(separator: ", "))"
        case .notANumber(let text, let filter):
            return "\"\(text)\" in \(filter) is not a number: write \(FilterText.form(of: filter))"
        case .wrongForm(let filter, let form): return "\(filter) needs other values: write \(form)"
        case .emptyFilter: return "a filter is missing: write the filters as in bass:+4,treble:-2"
        }
    }
}

/// Numbers as text: no more than four decimals, and none that are not needed.
enum Decimal {
    /// Returns the shortest text of `value`, rounded to four decimals.
    static func text(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
        let scaled = Int64((value.magnitude * 10_000).rounded())
        var text = "\(scaled / 10_000)"
        var fraction = scaled % 10_000
        if fraction > 0 {
            var digits = "\(fraction + 10_000)".dropFirst()
            while digits.last == "0" { digits = digits.dropLast() }
            text += ".\(digits)"
            fraction = 0
        }
        return value < 0 && scaled > 0 ? "-\(text)" : text
    }
}

extension ClosedRange<Double> {
    /// Throws `.outOfRange` unless `value` is in the range. NaN is in no range.
    func check(_ value: Double, _ name: String, unit: String) throws(EffectError) {
        guard contains(value) else { throw .outOfRange(name: name, value: value, range: self, unit: unit) }
    }

    /// Returns the nearest value in the range; for NaN, `other`.
    func limited(_ value: Double, or other: Double) -> Double {
        value.isNaN ? other : Swift.min(Swift.max(value, lowerBound), upperBound)
    }
}
