/// The pieces of a status line, from which so many are left out as do not fit.
struct StatusFields {
    private var fields: [Field] = []

    private struct Field {
        var text: String
        /// What stands before it when it is not the first.
        var separator: String
        /// The highest goes first when room is short; zero stays.
        var rank: Int
    }

    mutating func add(_ text: String, rank: Int = 0, after separator: String = "  ") {
        fields.append(Field(text: text, separator: separator, rank: rank))
    }

    /// Begins another part.
    mutating func addPart(_ text: String, rank: Int = 0) { add(text, rank: rank, after: "  |  ") }

    /// At most `width` characters.
    func text(width: Int) -> String {
        var fields = fields
        while text(of: fields).count > width {
            guard let last = fields.map(\.rank).max(), last > 0,
                let index = fields.lastIndex(where: { $0.rank == last })
            else { break }
            fields.remove(at: index)
        }
        return String(text(of: fields).prefix(width))
    }

    private func text(of fields: [Field]) -> String {
        fields.enumerated().reduce("") { $0 + ($1.offset == 0 ? "" : $1.element.separator) + $1.element.text }
    }
}
