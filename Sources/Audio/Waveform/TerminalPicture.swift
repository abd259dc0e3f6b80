public import TenfourAudioCore

/// A recording drawn as text: bars of braille, or of block characters for fonts without braille, between a decibel and
/// a time axis.
public struct TerminalPicture: Sendable {
    /// The bars; at most `TerminalStyle.barCount` are shown.
    public var bars: Bars
    public var rate: SampleRate
    public var markedRanges: [MarkedRange] = []
    public var position: Duration?
    public var style: TerminalStyle

    public init(bars: Bars, rate: SampleRate, style: TerminalStyle) {
        self.bars = bars
        self.rate = rate
        self.style = style
    }

    /// All lines, each with a line break.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    public var lines: [String] {
        let grid = DotGrid(bars, style)
        var lines = (0..<style.height).map { row in
            Paint.faint.on(label(row), style.hasColours) + " " + self.row(row, of: grid)
        }
        if let marks { lines.append(margin + Paint.concealed.on(marks, style.hasColours)) }
        lines.append(margin + Paint.faint.on(moments, style.hasColours))
        if let position { lines.append(margin + Paint.position.on(pointer(position), style.hasColours)) }
        return lines
    }

    private var margin: String { String(repeating: " ", count: TerminalStyle.marginWidth) }

    /// The duration of a bar.
    private var length: Duration { bars.framesPerBar.duration(at: rate) }
    private var columnCount: Int { style.columnCount }
    /// The duration of a column.
    private var step: Duration { length * style.barsPerColumn }

    /// Returns a row of characters, with a colour code before each run of one colour.
    private func row(_ row: Int, of grid: DotGrid) -> String {
        let concealed = MarkedRange.shares(of: .concealed, in: markedRanges, count: columnCount, length: step)
        var text = ""
        var run = ""
        var paint = Paint.sound
        for column in 0..<grid.columnCount {
            let isPlayed = position.map { step * column < $0 } ?? true
            let isAverage = grid.holdsAverage(row: row, column: column)
            let next: Paint = concealed[column] > 0.1 ? .concealed : isAverage && isPlayed ? .sound : .peak
            if next != paint {
                text += paint.on(run, style.hasColours)
                (run, paint) = ("", next)
            }
            run.append(grid.character(row: row, column: column))
        }
        return text + paint.on(run, style.hasColours)
    }

    /// Returns a row's label on the decibel axis. Only the upper half has labels, since the lower half mirrors it.
    private func label(_ row: Int) -> String {
        let middle = style.height / 2
        let step: Float = style.height >= 16 ? 10 : 20
        var text = row == middle - 1 ? fixed(Double(bars.floor), places: 0) : ""
        for level in stride(from: 0, to: bars.floor, by: -step) {
            let place = Int(Float(middle) * level / bars.floor)
            guard place == row, place < middle - 1 else { continue }
            text = fixed(Double(level), places: 0) + (level == 0 ? " dB" : "")
            break
        }
        return String(repeating: " ", count: max(TerminalStyle.marginWidth - 1 - text.count, 0)) + text
    }

    /// A line with one block character per column. The height of the character shows the proportion of concealed audio
    /// in the column. nil if no audio is concealed.
    private var marks: String? {
        let shares = MarkedRange.shares(of: .concealed, in: markedRanges, count: columnCount, length: step)
        guard shares.contains(where: { $0 > 0 }) else { return nil }
        let signs = Array("▁▂▃▄▅▆▇█")
        return String(shares.map { $0 > 0 ? signs[min(Int($0.squareRoot() * 8), 7)] : " " })
    }

    private var moments: String {
        var text = [Character](repeating: " ", count: columnCount)
        guard length > .zero else { return "" }
        let axis = TimeAxis(step * columnCount, atMost: columnCount / 12)
        for moment in axis.moments {
            let words = Array("╵" + axis.text(moment))
            let column = Int(moment / step)
            guard column + words.count <= columnCount else { continue }
            text.replaceSubrange(column..<column + words.count, with: words)
        }
        return String(text)
    }

    private func pointer(_ position: Duration) -> String {
        let column = min(max(Int(position / step), 0), columnCount - 1)
        let words = timecode(position)
        let isNearTheEnd = column + words.count + 2 > columnCount
        return isNearTheEnd
            ? String(repeating: " ", count: max(column - words.count - 1, 0)) + words + " ▲"
            : String(repeating: " ", count: column) + "▲ " + words
    }
}

/// The style of a recording drawn as text.
public struct TerminalStyle: Hashable, Sendable {
    /// The width in characters, including the decibel axis.
    public var width = 80
    /// The height in lines, without the time axis. It is an even number.
    public var height = 16
    public var shows = PictureStyle.Shown.both
    public var usesBlocks = false
    public var hasColours = false

    public static let widths = 20...1_000
    public static let heights = 2...200

    public init() {}

    public var barCount: Int { columnCount * barsPerColumn }

    static let marginWidth = 6
    var columnCount: Int { max(width - Self.marginWidth, 1) }
    var barsPerColumn: Int { usesBlocks ? 1 : 2 }
}

/// Colours of a terminal's palette of 256 that are readable on dark and light backgrounds.
enum Paint: Int {
    case sound = 68
    case peak = 103
    case faint = 245
    case concealed = 167
    case position = 172

    func on(_ text: String, _ hasColours: Bool) -> String {
        hasColours && !text.isEmpty ? "\u{1B}[38;5;\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
