/// The fields of a status line, some of which are left out if the line is too narrow.
struct StatusFields {
    private var fields: [Field] = []

    private struct Field {
        var text: String
        /// The separator before this field; not shown if the field is the first of the line.
        var separator: String
        var tone: Tone
        /// The rank of the field. If the line is too narrow, the fields with the highest rank are left out first.
        var rank: Int
        /// Whether the field is meaningless without the field before it.
        var isJoined: Bool { !separator.hasPrefix("  ") }
    }

    /// Whether a field is good news; shown by its colour where the terminal has colours.
    enum Tone: Equatable {
        case plain, good, doubtful, bad

        /// The sequence that begins the colour (ECMA-48, SGR).
        fileprivate var colour: String? {
            switch self {
            case .plain: nil
            case .good: "\u{1B}[32m"
            case .doubtful: "\u{1B}[33m"
            case .bad: "\u{1B}[1;31m"
            }
        }
    }

    /// The rank of warnings, which are left out last.
    static let alert = -1

    mutating func add(_ text: String, rank: Int = 0, after separator: String = "  ", tone: Tone = .plain) {
        fields.append(Field(text: text, separator: separator, tone: tone, rank: rank))
    }

    /// Adds a field that begins a new part of the line, after a vertical bar.
    mutating func addPart(_ text: String, rank: Int = 0) { add(text, rank: rank, after: "  |  ") }

    /// Returns the line, at most `width` columns. Fields that do not fit are left out completely; only if a single
    /// field is left, it is cut.
    func text(width: Int, coloured: Bool = false) -> String {
        var fields = fields
        while text(of: fields).columnCount > width, let last = fields.map(\.rank).max(),
            let index = fields.lastIndex(where: { $0.rank == last })
        {
            let group = last > 0 ? index..<index + 1 : Self.group(around: index, of: fields)
            if group == fields.indices { break }
            fields.removeSubrange(group)
        }
        let line = text(of: fields)
        guard coloured, line.columnCount <= width else { return line.cut(toColumns: width) }
        return text(of: fields, coloured: true)
    }

    /// Returns the range of the field at `index` and the fields joined to it.
    private static func group(around index: Int, of fields: [Field]) -> Range<Int> {
        let begin = fields[...index].lastIndex { !$0.isJoined } ?? 0
        let end = fields[(index + 1)...].firstIndex { !$0.isJoined } ?? fields.count
        return begin..<end
    }

    private func text(of fields: [Field], coloured: Bool = false) -> String {
        fields.enumerated().reduce("") { line, next in
            let field = next.element
            let text = coloured ? field.tone.colour.map { $0 + field.text + "\u{1B}[0m" } ?? field.text : field.text
            return line + (next.offset == 0 ? "" : field.separator) + text
        }
    }
}
