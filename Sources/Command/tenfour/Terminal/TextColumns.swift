extension String {
    /// The number of columns that the text takes in a terminal, or a few more: two for East Asian letters and for
    /// pictures.
    var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

    /// The text cut to `columns` columns, with an ellipsis if something is missing.
    func cut(toColumns columns: Int) -> String {
        guard columnCount > columns else { return self }
        var (text, count) = ("", 1)
        for letter in self {
            count += letter.columnCount
            if count > columns { break }
            text.append(letter)
        }
        return columns > 0 ? text + "…" : ""
    }

    /// The text in lines of at most `columns` columns, broken between words. A word that is longer has a line of its own.
    /// Blanks within a line are kept.
    func wrapped(toColumns columns: Int) -> [String] {
        guard columnCount > columns else { return [self] }
        return split(separator: " ", omittingEmptySubsequences: false).map(String.init).wrapped(toColumns: columns)
    }

    /// The text in exactly `columns` columns.
    func fitted(toColumns columns: Int) -> String {
        let text = cut(toColumns: columns)
        return text + String(repeating: " ", count: max(columns - text.columnCount, 0))
    }
}

extension [String] {
    /// The words in lines of at most `columns` columns, separated by blanks. A word that is longer has a line of its own.
    /// The first line begins with `head`, which counts as columns too, and the others with `indent`.
    func wrapped(toColumns columns: Int, behind head: String = "", indent: String = "") -> [String] {
        var lines: [String] = []
        var line = head
        var isEmpty = true
        for word in self {
            if !isEmpty, line.columnCount + 1 + word.columnCount > columns {
                lines.append(line)
                (line, isEmpty) = (indent, true)
            }
            line += isEmpty ? word : " " + word
            isEmpty = false
        }
        return lines + [line]
    }
}

extension Character {
    fileprivate var columnCount: Int {
        unicodeScalars.contains { scalar in
            // East Asian Width (UAX #11), in blocks; and pictures.
            switch scalar.value {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7FF, 0xF900...0xFAFF, 0xFE0F...0xFE6F,
                0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F000...0x1FAFF, 0x20000...0x3FFFD:
                true
            default: false
            }
        } ? 2 : 1
    }
}
