import TenfourCommandSupport

/// The fields of a status line as they fit into a terminal.
///
/// If the line is too narrow, names are shortened first, to a dozen columns. Then fields are left out completely, those
/// with the highest rank first. What remains is written in short, with shorter names and narrow separators. If even the
/// essential fields do not fit, they are broken into two lines, where there is room for a second one.
struct StatusLayout {
    private typealias Field = StatusFields.Field

    private var fields: [Field]
    private let width: Int
    private var nameColumns = Int.max
    private var isShort = false
    private var isDense = false
    /// The number of talkers that were left out.
    private var hiddenTalkerCount = 0
    /// The number of lines that may be used.
    private var lineCount = 1

    /// The number of columns to which names are shortened before a warning is left out.
    private static let fewestNameColumns = 6
    /// The number of columns to which names are shortened before an essential field is left out: one wide letter and an
    /// ellipsis.
    private static let recognisableColumns = 3

    init(_ fields: [StatusFields.Field], width: Int, lineCount: Int) {
        self.fields = fields
        self.width = width
        fitNames(atLeast: StatusText.usualNameColumns)
        leaveOut(above: StatusFields.alert)
        if !fits { fitNames(atLeast: Self.fewestNameColumns) }
        if !fits { isShort = true }
        if !fits { isDense = true }
        leaveOut(above: StatusFields.essential)
        if !fits { self.lineCount = max(lineCount, 1) }
        if !fits { fitNames(atLeast: Self.recognisableColumns) }
        leaveOut(above: .min)
        fitNames(atLeast: 1)
    }

    /// The roles of the fields that are shown.
    var roles: Set<StatusFields.Role> { Set(fields.compactMap(\.role)) }

    /// Returns the lines, each of at most `width` columns. If a single field has no room, it is cut.
    func lines(coloured: Bool = false) -> [String] {
        guard fits else { return [(broken().first.map { text(of: $0) } ?? "").cut(toColumns: width)] }
        let lines = broken().map { text(of: $0, coloured: coloured) }
        return lines.isEmpty ? [""] : lines
    }

    // MARK: Fitting

    private var fits: Bool {
        let lines = broken()
        return lines.count <= lineCount && lines.allSatisfy { text(of: $0).columnCount <= width }
    }

    /// Gives the names as many columns as there is room for, and at least `least`.
    private mutating func fitNames(atLeast least: Int) {
        let longest = fields.map { max($0.text.nameColumns, $0.short?.nameColumns ?? 0) }.max() ?? 0
        var (low, high) = (least, max(min(longest, width), StatusText.usualNameColumns, least))
        nameColumns = .max
        if fits { return }
        while low < high {
            nameColumns = (low + high + 1) / 2
            if fits { low = nameColumns } else { high = nameColumns - 1 }
        }
        nameColumns = low
    }

    /// Leaves out fields whose rank is above `rank` until the rest fits or one is left.
    private mutating func leaveOut(above rank: Int) {
        while !fits, let last = fields.lazy.map(\.rank).max(), last > rank,
            let index = fields.lastIndex(where: { $0.rank == last })
        {
            let group = last > 0 ? index..<index + 1 : group(around: index)
            if group == fields.indices { return }
            hiddenTalkerCount += fields[group].count { $0.role == .talker }
            fields.removeSubrange(group)
        }
    }

    /// Returns the range of the field at `index` and the fields joined to it.
    private func group(around index: Int) -> Range<Int> {
        let begin = fields[...index].lastIndex { !$0.isJoined } ?? 0
        let end = fields[(index + 1)...].firstIndex { !$0.isJoined } ?? fields.count
        return begin..<end
    }

    // MARK: Text

    /// Returns the ranges of the fields in each line. A field begins a new line only if there may be several.
    private func broken() -> [Range<Int>] {
        guard lineCount > 1 else { return [fields.indices] }
        var lines: [Range<Int>] = []
        var begin = 0
        var index = 0
        while index < fields.count {
            let end = fields[(index + 1)...].firstIndex { !$0.isJoined } ?? fields.count
            if index > begin, text(of: begin..<end).columnCount > width {
                lines.append(begin..<index)
                begin = index
            }
            index = end
        }
        return lines + [begin..<fields.count]
    }

    private func text(of range: Range<Int>, coloured: Bool = false) -> String {
        range.reduce("") { line, index in
            let field = fields[index]
            let text = text(of: field)
            let separator = index == range.lowerBound ? "" : isDense && !field.isJoined ? " " : field.separator
            return line + separator + (coloured ? field.tone.colour.map { $0 + text + "\u{1B}[0m" } ?? text : text)
        }
    }

    private func text(of field: Field) -> String {
        let text = ((isShort ? field.short : nil) ?? field.text).text(nameColumns: nameColumns)
        let isFirstTalker = field.role == .talker && field.rank == StatusFields.essential
        return isFirstTalker && hiddenTalkerCount > 0 ? "\(text)+\(hiddenTalkerCount)" : text
    }
}
