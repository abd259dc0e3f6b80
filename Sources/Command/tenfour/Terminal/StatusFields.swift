/// The fields of a status line, in the order in which they are shown.
struct StatusFields {
    private(set) var fields: [Field] = []

    struct Field {
        var text: StatusText
        /// The shorter text, which is shown where `text` has no room.
        var short: StatusText?
        /// The separator before this field; not shown if the field is the first of the line.
        var separator: String
        var tone: Tone
        /// The rank of the field. If the line is too narrow, the fields with the highest rank are left out first.
        var rank: Int
        var role: Role?
        /// Whether the field is meaningless without the field before it.
        var isJoined: Bool { !separator.hasPrefix("  ") }
    }

    /// Whether a field is good news; shown by its colour where the terminal has colours.
    enum Tone: Equatable {
        case plain, good, doubtful, bad

        /// The sequence that begins the colour (ECMA-48, SGR).
        var colour: String? {
            switch self {
            case .plain: nil
            case .good: "\u{1B}[32m"
            case .doubtful: "\u{1B}[33m"
            case .bad: "\u{1B}[1;31m"
            }
        }
    }

    /// Fields that others ask for.
    enum Role: Hashable {
        /// Somebody who talks. The first one shows how many others have no room.
        case talker
        /// That the speaker is muted.
        case mute
        /// A volume that a key has just changed.
        case volumeChange
    }

    /// The ranks of the fields that are left out last: whom one hears, warnings, and last of all who talks, ON AIR, muted
    /// and heard.
    static let (talking, alert, essential) = (-1, -2, -3)

    mutating func add(
        _ text: StatusText, short: StatusText? = nil, rank: Int = 0, after separator: String = "  ",
        tone: Tone = .plain, role: Role? = nil
    ) {
        fields.append(Field(text: text, short: short, separator: separator, tone: tone, rank: rank, role: role))
    }

    /// Adds a field that begins a new part of the line, after a vertical bar.
    mutating func addPart(_ text: StatusText, short: StatusText? = nil, rank: Int = 0, role: Role? = nil) {
        add(text, short: short, rank: rank, after: "  |  ", role: role)
    }

    /// Adds or removes that the speaker is muted.
    mutating func setMute(_ isMuted: Bool) {
        fields.removeAll { $0.role == .mute }
        if isMuted { addPart("speaker muted", short: "muted", rank: Self.essential, role: .mute) }
    }

    /// Returns the line, at most `width` columns.
    func text(width: Int, coloured: Bool = false) -> String {
        layout(width: width).lines(coloured: coloured)[0]
    }

    /// Places the fields in at most `lineCount` lines of `width` columns. Two lines are used only if the essential fields
    /// do not fit into one.
    func layout(width: Int, lineCount: Int = 1) -> StatusLayout {
        StatusLayout(fields, width: width, lineCount: lineCount)
    }
}
