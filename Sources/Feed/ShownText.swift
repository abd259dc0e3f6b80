/// `text` from outside as people may see it: each control character and each mark that turns the direction of writing is
/// replaced by U+FFFD, runs of white space are one space, and what passes `limit` characters is cut off. nil when nothing is left.
public func shown(_ text: String, limit: Int = 300) -> String? {
    var kept = String.UnicodeScalarView()
    var space = false
    // A character may be made of any number of scalars: bounded as well.
    for scalar in text.unicodeScalars.prefix(limit * 8) {
        if scalar.properties.isWhitespace {
            space = !kept.isEmpty
            continue
        }
        if space { kept.append(" ") }
        space = false
        kept.append(isHarmless(scalar) ? scalar : "\u{FFFD}")
    }
    return kept.isEmpty ? nil : String(String(kept).prefix(limit))
}

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .surrogate, .unassigned, .privateUse: false
    // Format characters join letters in many scripts; those that embed, override or isolate a direction forge text.
    case .format: !(0x202A...0x202E ~= scalar.value || 0x2066...0x2069 ~= scalar.value)
    default: true
    }
}
