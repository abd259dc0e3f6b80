import TenfourWaveform

/// A status line with optional level meters above it, redrawn in place.
///
/// The cursor rests at the start of the first line. If the terminal becomes narrower, it wraps the lines but keeps the
/// cursor's position in the text, so everything from the cursor on can be erased.
struct LiveLines {
    /// The number of lines on the screen.
    private var count = 0
    /// The terminal's width at the last drawing, in columns.
    private var width = 0

    /// Draws the level meters and, below them, the status line. `status` returns this line for a width in columns.
    mutating func draw(_ levels: [LevelView], status: (_ width: Int) -> String) {
        let columns = Terminal.width
        let width = max(columns - 1, 1)
        // Limits the height, so that other output stays visible.
        let height = min(max((Terminal.height - 4) / max(levels.count, 1) / 3, 1), 5)
        let lines = levels.flatMap { $0.lines(width: width, height: height, hasColours: Terminal.takesColours) }
        // Erases the old lines first if their number or the width has changed.
        if count != lines.count + 1 || columns != self.width { clear() }
        let down = (lines.map { "\r\u{1B}[K\($0)\n" } + ["\r\u{1B}[K" + status(width)]).joined()
        Terminal.draw(down + "\r" + (lines.isEmpty ? "" : "\u{1B}[\(lines.count)A"))
        count = lines.count + 1
        self.width = columns
    }

    mutating func clear() {
        guard count > 0 else { return }
        let isAsDrawn = count == 1 && Terminal.width == width
        Terminal.draw(isAsDrawn ? "\r\u{1B}[K" : "\r\u{1B}[J")
        count = 0
    }
}
