import TenfourCommandSupport

/// The text of a field of a status line. Names in it can be shortened.
struct StatusText: Equatable, ExpressibleByStringInterpolation {
    private var parts: [Part]

    fileprivate enum Part: Equatable {
        case words(String)
        case name(String)
        /// A remark about a name, and a sign for it where the name is shortened.
        case remark(String, sign: String)
    }

    /// The number of columns from which on a name is long enough to be recognised.
    static let usualNameColumns = 12

    init(_ words: String) { parts = [.words(words)] }

    init(stringLiteral words: String) { self.init(words) }

    init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ words: String) { if !words.isEmpty { parts.append(.words(words)) } }
        mutating func appendInterpolation(_ value: some CustomStringConvertible) { appendLiteral("\(value)") }
        mutating func appendInterpolation(_ text: StatusText) { parts += text.parts }
        mutating func appendInterpolation(name: String) { parts.append(.name(name)) }
        mutating func appendInterpolation(remark: String, sign: String) {
            parts.append(.remark(remark, sign: sign))
        }
    }

    /// The whole text.
    var whole: String { text(nameColumns: .max) }

    var isEmpty: Bool { whole.isEmpty }

    /// The number of columns of the longest name; 0 if there is no name.
    var nameColumns: Int {
        parts.reduce(0) { columns, part in
            if case .name(let name) = part { max(columns, name.columnCount) } else { columns }
        }
    }

    /// Returns the text with names of at most `nameColumns` columns.
    func text(nameColumns: Int) -> String {
        parts.reduce("") { text, part in
            switch part {
            case .words(let words): text + words
            case .name(let name): text + name.cut(toColumns: nameColumns)
            case .remark(let remark, let sign): text + (nameColumns < Self.usualNameColumns ? sign : remark)
            }
        }
    }

    /// Joins the texts, with a separator between them.
    static func joined(_ texts: [StatusText], by separator: String) -> StatusText {
        var joined = StatusText("")
        for (index, text) in texts.enumerated() {
            joined.parts += (index > 0 ? [.words(separator)] : []) + text.parts
        }
        return joined
    }
}
