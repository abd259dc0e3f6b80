import TenfourWaveform

/// A status line, and above it how loud it is, drawn over themselves.
///
/// The cursor rests at the beginning of the first of them: a terminal that is made narrower breaks lines in two, but leaves the
/// cursor where it is in the text, so that all of it can be erased from there.
struct LiveLines {
    /// How many lines are on the screen.
    private var count = 0
    /// The terminal's width when they were drawn, in columns.
    private var width = 0

    /// `status` makes the last line, of so many columns.
    mutating func draw(_ levels: [LevelView], status: (_ width: Int) -> String) {
        let columns = Terminal.width
        let width = max(columns - 1, 1)
        // As many as leave room for something else on the screen.
        let height = min(max((Terminal.height - 4) / max(levels.count, 1) / 3, 1), 5)
        let lines = levels.flatMap { $0.lines(width: width, height: height, hasColours: Terminal.takesColours) }
        // The old lines are erased first where their number or the terminal's width has changed.
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
