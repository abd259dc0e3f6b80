/// The pieces of a status line, from which so many are left out as do not fit.
struct StatusFields {
    private var fields: [Field] = []

    private struct Field {
        var text: String
        /// What stands before it when it is not the first.
        var separator: String
        /// The highest goes first when room is short.
        var rank: Int
        /// Whether it says nothing without the one before it.
        var isJoined: Bool { !separator.hasPrefix("  ") }
    }

    /// The rank of what goes last, because something is to be done about it.
    static let alert = -1

    mutating func add(_ text: String, rank: Int = 0, after separator: String = "  ") {
        fields.append(Field(text: text, separator: separator, rank: rank))
    }

    /// Begins another part.
    mutating func addPart(_ text: String, rank: Int = 0) { add(text, rank: rank, after: "  |  ") }

    /// At most `width` characters. What does not fit is left out whole, unless it is alone.
    func text(width: Int) -> String {
        var fields = fields
        while text(of: fields).count > width, let last = fields.map(\.rank).max(),
            let index = fields.lastIndex(where: { $0.rank == last })
        {
            let group = last > 0 ? index..<index + 1 : Self.group(around: index, of: fields)
            if group == fields.indices { break }
            fields.removeSubrange(group)
        }
        let text = text(of: fields)
        return text.count <= width ? text : text.prefix(width - 1) + "…"
    }

    /// A field and those that are joined to it.
    private static func group(around index: Int, of fields: [Field]) -> Range<Int> {
        let begin = fields[...index].lastIndex { !$0.isJoined } ?? 0
        let end = fields[(index + 1)...].firstIndex { !$0.isJoined } ?? fields.count
        return begin..<end
    }

    private func text(of fields: [Field]) -> String {
        fields.enumerated().reduce("") { $0 + ($1.offset == 0 ? "" : $1.element.separator) + $1.element.text }
    }
}
