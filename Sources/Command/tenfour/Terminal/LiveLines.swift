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
    /// returns this line for a width in columns.
    mutating func draw(
        _ levels: [LevelView], beneath picture: (_ width: Int) -> [String] = { _ in [] },
        status: (_ width: Int) -> String
    ) {
        draw { width, height in
            let picture = picture(width)
            // Limits the height, so that other output stays visible.
            let height = min(max((height - picture.count) / max(levels.count, 1) / 3, 1), 5)
            return picture
                + levels.flatMap { $0.lines(width: width, height: height, hasColours: Terminal.takesColours) }
                + [status(width)]
        }
    }

    /// Draws the lines that `lines` returns for a width in columns, and for a number of lines that leaves other output
    /// visible.
    mutating func draw(_ lines: (_ width: Int, _ height: Int) -> [String]) {
        let columns = Terminal.width
        let lines = lines(max(columns - 1, 1), Terminal.height - 4)
        // Erases the old lines first if their number or the width has changed.
        if drawn.count != lines.count || columns != width { clear() }
        // Leaves lines alone that are as they were, apart from the last one.
        let down = lines.indices.map { index in
            index < lines.count - 1 && index < drawn.count && drawn[index] == lines[index]
                ? "" : "\r\u{1B}[K" + lines[index]
        }.joined(separator: "\n")
        Terminal.draw(down + "\r" + (lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""))
        drawn = lines
        width = columns
    }

    mutating func clear() {
        guard !drawn.isEmpty else { return }
        let isAsDrawn = drawn.count == 1 && Terminal.width == width
        Terminal.draw(isAsDrawn ? "\r\u{1B}[K" : "\r\u{1B}[J")
        drawn = []
    }
}
