private import TenfourAudioCore

// The text forms of durations, percentages, bit rates and byte counts.

/// Reads a duration such as `40ms`, `1.5s`, `250us`, or a bare `0`. Nil for a duration above an hour, and for other
/// text.
func duration(_ text: Substring) -> Duration? {
    if text == "0" { return .zero }
    return number(text, units: ["us": 1000, "ms": 1_000_000, "s": 1_000_000_000], to: 3600e9).map { .nanoseconds($0) }
}

/// Reads a percentage of 0…100 such as `5%`. Returns it divided by 100; nil for any other text.
func percentage(_ text: Substring) -> Double? {
    guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
    return percent / 100
}

/// Reads a bit rate such as `256kbit`, `1.5mbit` or `64000bit`. Returns it in bit/s, 1…10¹²; nil for any other text.
func bitRate(_ text: Substring) -> Int? {
    let units = ["bit": 1.0, "kbit": 1000, "mbit": 1_000_000, "gbit": 1_000_000_000]
    return number(text, units: units, to: 1e12).flatMap { $0 > 0 ? Int($0) : nil }
}

/// Reads a number of bytes such as `1500B`, `64kB` or `1MB`, at most 1 GB; 1 kB is 1000 bytes. Nil for any other text.
func byteCount(_ text: Substring) -> Int? {
    number(text, units: ["b": 1, "kb": 1000, "mb": 1_000_000], to: 1e9).map { Int($0) }
}

func written(_ duration: Duration) -> String {
    let nanoseconds = duration.asDelay
    return nanoseconds >= 1_000_000_000
        ? decimal(nanoseconds, unit: 1_000_000_000) + "s" : decimal(nanoseconds, unit: 1_000_000) + "ms"
}

func written(share: Double) -> String {
    // Writes NaN as zero, because the model treats it as zero.
    decimal(Int64(((share > 0 ? min(share, 1) : 0) * 1e8).rounded()), unit: 1_000_000) + "%"
}

/// Writes a number, a whole one without a decimal point: `3` instead of `3.0`.
func written(number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

func written(bitsPerSecond: Int) -> String {
    for (name, unit) in [("mbit", 1_000_000), ("kbit", 1000)] where bitsPerSecond % unit == 0 {
        return "\(bitsPerSecond / unit)\(name)"
    }
    return "\(bitsPerSecond)bit"
}

/// Writes `value` (zero or more) divided by `unit`, a power of ten, exactly and without trailing zeros.
func decimal(_ value: Int64, unit: Int64) -> String {
    let (whole, rest) = value.quotientAndRemainder(dividingBy: unit)
    guard rest > 0 else { return "\(whole)" }
    // Adds a leading 1, so that the leading zeros of `rest` are written; `dropFirst` removes the 1.
    var digits = String(unit + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
}

func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
}

/// Quotes `text` for a message: at most 40 characters, without characters that control a terminal.
func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(40).map {
        $0.properties.generalCategory == .control ? "\u{FFFD}" : String($0)
    }
    return "“" + shown.joined() + (text.unicodeScalars.count > 40 ? "…" : "") + "”"
}

/// Reads a number followed by a unit, in upper or lower case. `units` maps the name of each unit to its multiplier.
/// Returns the number times the multiplier, rounded; nil if the product exceeds `most`, and for any other text.
private func number(_ text: Substring, units: [String: Double], to most: Double) -> Int64? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let unit = units[text[digits.endIndex...].lowercased()], let number = Double(digits) else { return nil }
    return number * unit <= most ? Int64((number * unit).rounded()) : nil
}
