extension String {
    /// The number of columns that the text takes in a terminal, as the C function `wcswidth` counts them, but with two for
    /// a letter that a variation selector makes a picture. Terminals that join several pictures to one take fewer.
    package var columnCount: Int {
        var (sum, last) = (0, 0)
        for scalar in unicodeScalars {
            let count = scalar.value == Unicode.Scalar.emojiSelector ? (last == 1 ? 1 : 0) : scalar.columnCount
            sum += count
            last = count
        }
        return sum
    }

    /// The text cut to `columns` columns, with an ellipsis if something is missing.
    package func cut(toColumns columns: Int) -> String {
        guard columnCount > columns else { return self }
        var (text, count) = ("", 1)
        for letter in self {
            count += letter.columnCount
            if count > columns { break }
            text.append(letter)
        }
        return columns > 0 ? text + "…" : ""
    }

    /// The end of the text that fits into `columns` columns, with an ellipsis in front if that is not all of it.
    package func cutFront(toColumns columns: Int) -> String {
        guard columnCount > columns else { return self }
        var (start, count) = (endIndex, 1)
        while start > startIndex {
            let before = index(before: start)
            count += self[before].columnCount
            if count > columns { break }
            start = before
        }
        return columns > 0 ? "…" + self[start...] : ""
    }

    /// The text in lines of at most `columns` columns, broken between words. A word that is longer has a line of its own.
    /// Blanks within a line are kept. A command between backquotes is one word if a line has room for it.
    package func wrapped(toColumns columns: Int) -> [String] {
        guard columnCount > columns else { return [self] }
        let words = split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return Self.joiningCommands(words, within: columns).wrapped(toColumns: columns)
    }

    /// Each line of the text in lines of at most `columns` columns.
    package func wrappedLines(toColumns columns: Int) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).flatMap { String($0).wrapped(toColumns: columns) }
            .joined(separator: "\n")
    }

    private static func joiningCommands(_ words: [String], within columns: Int) -> [String] {
        var joined: [String] = []
        var begin = words.startIndex
        while begin < words.endIndex {
            var end = begin + 1
            if words[begin].hasOpenBackquote, let close = words[end...].firstIndex(where: \.hasOpenBackquote) {
                let command = words[begin...close].joined(separator: " ")
                if command.columnCount <= columns { end = close + 1 }
            }
            joined.append(words[begin..<end].joined(separator: " "))
            begin = end
        }
        return joined
    }

    private var hasOpenBackquote: Bool { !count { $0 == "`" }.isMultiple(of: 2) }

    /// The text in exactly `columns` columns.
    package func fitted(toColumns columns: Int) -> String {
        let text = cut(toColumns: columns)
        return text + String(repeating: " ", count: max(columns - text.columnCount, 0))
    }
}

extension [String] {
    /// The words in lines of at most `columns` columns, separated by blanks. A word that is longer has a line of its own.
    /// The first line begins with `head`, which counts as columns too, and the others with `indent`.
    package func wrapped(toColumns columns: Int, behind head: String = "", indent: String = "") -> [String] {
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
    fileprivate var columnCount: Int { String(self).columnCount }
}

extension Unicode.Scalar {
    /// The number of columns: none for combining and invisible characters, two for East Asian letters and pictures.
    fileprivate var columnCount: Int {
        if (0x20..<0x7F).contains(value) { return 1 }
        return isZeroWidth ? 0 : EastAsianWidth.isWide(self) ? 2 : 1
    }

    /// The variation selector that makes a letter a picture, and so wide in many terminals.
    fileprivate static let emojiSelector: UInt32 = 0xFE0F

    private var isZeroWidth: Bool {
        switch value {
        // Vowels and finals of Hangul are drawn into the consonant before them.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: true
        // A soft hyphen, and signs around numbers, are visible.
        case 0xAD, 0x0600...0x0605, 0x06DD, 0x070F, 0x0890...0x0891, 0x08E2, 0x110BD, 0x110CD: false
        default:
            switch properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: true
            default: false
            }
        }
    }
}
