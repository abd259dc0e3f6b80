import TenfourWaveform

/// A status line with optional level meters and a picture above it, redrawn in place.
///
/// The cursor rests at the start of the first line. If the terminal becomes narrower, it wraps the lines but keeps the
/// cursor's position in the text, so everything from the cursor on can be erased.
struct LiveLines {
    /// The lines on the screen.
    private var drawn: [String] = []
    /// The terminal's width at the last drawing, in columns.
    private var width = 0

    /// Draws the lines of `picture`, for a width in columns, beneath them the level meters and the status line. `status`
    /// returns this line for a width in columns, broken into at most a number of lines.
    mutating func draw(
        _ levels: [LevelView], beneath picture: (_ width: Int) -> [String] = { _ in [] },
        status: (_ width: Int, _ lineCount: Int) -> [String]
    ) {
        draw { width, height in
            let picture = picture(width)
            let status = status(width, Self.statusLineCount(height))
            // Limits the height, so that other output stays visible.
            let height = min(max((height - picture.count) / max(levels.count, 1) / 3, 1), 5)
            return picture
                + levels.flatMap { $0.lines(width: width, height: height, hasColours: Terminal.takesColours) }
                + status
        }
    }

    /// Draws the lines that `lines` returns for a width in columns, and for a number of lines that leaves other output
    /// visible.
    mutating func draw(_ lines: (_ width: Int, _ height: Int) -> [String]) {
        let columns = Terminal.width
        let height = Terminal.height
        // Lines that the terminal has no room for would scroll, and never be erased.
        let lines = Array(lines(max(columns - 1, 1), height - Self.otherLineCount).suffix(max(height - 1, 1)))
        // Erases the old lines first if their number or the width has changed.
        if drawn.count != lines.count || columns != width { clear() }
        // Leaves lines alone that are as they were, apart from the last one.
        let down = lines.indices.map { index in
            index < lines.count - 1 && index < drawn.count && drawn[index] == lines[index]
                ? "" : "\r\u{1B}[K" + lines[index]
        }.joined(separator: "\n")
        // Without autowrap (DECAWM), no line can wrap while the terminal becomes narrower, or if it draws a letter wider.
        let up = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
        Terminal.draw("\u{1B}[?7l" + down + "\r" + up + "\u{1B}[?7h")
        drawn = lines
        width = columns
    }

    /// Returns how the fields of a status line fit into the terminal.
    func layout(of fields: StatusFields) -> StatusLayout {
        fields.layout(width: max(width - 1, 1), lineCount: Self.statusLineCount(Terminal.height - Self.otherLineCount))
    }

    /// The number of lines that a status line may have, where `height` lines may be drawn.
    private static func statusLineCount(_ height: Int) -> Int { height > 0 ? 2 : 1 }

    /// The number of lines that are left to other output.
    private static let otherLineCount = 4

    mutating func clear() {
        guard !drawn.isEmpty else { return }
        let isAsDrawn = drawn.count == 1 && Terminal.width == width
        Terminal.draw(isAsDrawn ? "\r\u{1B}[K" : "\r\u{1B}[J")
        drawn = []
    }
}
