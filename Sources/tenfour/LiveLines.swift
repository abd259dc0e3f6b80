import Waveform

/// A status line, and above it how loud it is, drawn over themselves.
struct LiveLines {
    /// On the screen.
    private var count = 0

    /// `status` makes the last line, of so many columns.
    mutating func draw(_ levels: [LevelView], status: (_ width: Int) -> String) {
        let width = max(Terminal.width - 1, 20)
        // As many as leave room for something else on the screen.
        let height = min(max((Terminal.height - 4) / max(levels.count, 1) / 3, 1), 5)
        let lines = levels.flatMap { $0.lines(width: width, height: height, hasColours: Terminal.takesColours) }
        // Where there are more or fewer than before, what was there goes first.
        if count != lines.count + 1 { clear() }
        let up = count > 1 ? "\u{1B}[\(count - 1)A" : ""
        Terminal.draw(up + (lines.map { "\r\u{1B}[K\($0)\n" } + ["\r\u{1B}[K" + status(width)]).joined())
        count = lines.count + 1
    }

    mutating func clear() {
        guard count > 0 else { return }
        Terminal.draw("\r\u{1B}[K" + String(repeating: "\u{1B}[A\u{1B}[K", count: count - 1))
        count = 0
    }
}
