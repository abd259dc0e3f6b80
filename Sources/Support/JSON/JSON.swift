/// A JSON value (RFC 8259) to be written. Members keep their order.
public enum JSON: Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    /// A number rounded to `places` digits after the point; null for NaN and infinity.
    case decimal(Double, places: Int)
    case text(String)
    case list([JSON])
    case object([(String, JSON)])

    /// Returns a decimal number, or `.null` for nil.
    public static func decimal(_ number: Double?, places: Int) -> Self {
        number.map { .decimal($0, places: places) } ?? .null
    }

    /// The value as the text of a JSON file. An object or list that fits on one line is written on one line; in a longer
    /// one, each element begins a line.
    public var text: String { written(indentedBy: 0) + "\n" }

    private static let lineLength = 118

    private func written(indentedBy depth: Int) -> String {
        let line = self.line
        guard depth + line.count > Self.lineLength else { return line }
        let margin = String(repeating: " ", count: depth + 2)
        let end = String(repeating: " ", count: depth)
        switch self {
        case .list(let values):
            let lines = values.map { margin + $0.line }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(end)]"
        case .object(let members):
            let lines = members.map { "\(margin)\(Self.quoted($0)): \($1.written(indentedBy: depth + 2))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(end)}"
        default:
            return line
        }
    }

    /// The value on one line, without a line break.
    public var line: String {
        switch self {
        case .null: return "null"
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return "\(value)"
        case .decimal(let value, let places): return Self.written(value, places)
        case .text(let text): return Self.quoted(text)
        case .list(let values): return "[" + values.map(\.line).joined(separator: ", ") + "]"
        case .object(let members):
            return members.isEmpty
                ? "{}" : "{ " + members.map { "\(Self.quoted($0)): \($1.line)" }.joined(separator: ", ") + " }"
        }
    }

    private static func written(_ value: Double, _ places: Int) -> String {
        guard value.isFinite else { return "null" }
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let rounded = (value * scale).rounded() / scale
        guard rounded.isFinite else { return "null" }
        if let whole = Int(exactly: rounded) { return "\(whole)" }
        return "\(rounded)"
    }

    /// Returns the text as a JSON string (RFC 8259 section 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
