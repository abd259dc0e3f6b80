public import TenfourAudioCore

/// A sound as lines of text: bars of braille, or of blocks where a font has no braille, between an axis of decibels and one of time.
public struct TerminalPicture: Sendable {
    /// As many as `barCount` says, or fewer.
    public var bars: Bars
    public var rate: SampleRate
    public var stretches: [MarkedRange] = []
    public var position: Duration?
    public var style: TerminalStyle

    public init(bars: Bars, rate: SampleRate, style: TerminalStyle) {
        self.bars = bars
        self.rate = rate
        self.style = style
    }

    /// Each ends in a line break.
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

    /// Of a bar.
    private var length: Duration { bars.framesPerBar.duration(at: rate) }
    private var columnCount: Int { style.columnCount }
    /// Of a column.
    private var step: Duration { length * style.barsPerColumn }

    /// Runs of one colour.
    private func row(_ row: Int, of grid: DotGrid) -> String {
        let concealed = MarkedRange.shares(of: .concealed, in: stretches, count: columnCount, length: step)
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

    /// Of the upper half only; the lower one is its mirror.
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

    /// How much of each column was made up, where anything was.
    private var marks: String? {
        let shares = MarkedRange.shares(of: .concealed, in: stretches, count: columnCount, length: step)
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

/// How a sound is shown as text.
public struct TerminalStyle: Hashable, Sendable {
    /// In characters, with the axis of decibels.
    public var width = 80
    /// In lines, without the axis of time: an even number.
    public var height = 16
    public var shows = PictureStyle.Shown.both
    public var isOfBlocks = false
    public var hasColours = false

    public static let widths = 20...1_000
    public static let heights = 2...200

    public init() {}

    public var barCount: Int { columnCount * barsPerColumn }

    static let marginWidth = 6
    var columnCount: Int { max(width - Self.marginWidth, 1) }
    var barsPerColumn: Int { isOfBlocks ? 1 : 2 }
}

/// Colours that can be read on dark and on light: of the 256 that terminals have.
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
