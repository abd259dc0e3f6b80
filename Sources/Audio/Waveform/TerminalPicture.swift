public import TenfourAudioCore

/// A recording drawn as text: bars of braille, or of block characters for fonts without braille, between a decibel and
/// a time axis.
public struct TerminalPicture: Sendable {
    /// The bars; at most `TerminalStyle.barCount` are shown.
    public var bars: Bars
    /// The sample rate of the recording.
    public var rate: SampleRate
    /// The parts that are drawn in red, if the style has colours.
    public var markedRanges: [MarkedRange] = []
    /// The playback position; nil if none is drawn.
    public var position: Duration?
    /// The position of the first bar in the recording. The other moments count from it.
    public var start = Duration.zero
    /// The level at the top of the scale, in decibels. With `Bars.highest`, the loudest bar has the full height.
    public var highestLevel: Float = 0
    /// Whether the time axis is drawn beneath the bars.
    public var hasTimeAxis = true
    public var style: TerminalStyle

    public init(bars: Bars, rate: SampleRate, style: TerminalStyle) {
        self.bars = bars
        self.rate = rate
        self.style = style
    }

    /// All lines, each with a line break.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// The lines of the picture and of its time axis, without line breaks.
    public var lines: [String] {
        let grid = DotGrid(bars, axis, style)
        var lines = (0..<style.height).map { row in
            Paint.faint.on(label(row), style.hasColours) + " " + self.row(row, of: grid)
        }
        if let marks { lines.append(margin + Paint.concealed.on(marks, style.hasColours)) }
        guard hasTimeAxis else { return lines }
        lines.append(margin + Paint.faint.on(moments, style.hasColours))
        if let position, Duration.zero...length * bars.count ~= position {
            lines.append(margin + Paint.position.on(pointer(position), style.hasColours))
        }
        return lines
    }

    private var axis: LevelAxis { LevelAxis(floor: bars.floor, top: highestLevel) }

    private var margin: String { String(repeating: " ", count: TerminalStyle.marginWidth) }

    /// The duration of a bar.
    private var length: Duration { bars.framesPerBar.duration(at: rate) }
    private var columnCount: Int { style.columnCount }
    /// The duration of a column.
    private var step: Duration { length * style.barsPerColumn }

    /// Returns a row of characters, with a colour code before each run of one colour.
    private func row(_ row: Int, of grid: DotGrid) -> String {
        let concealed = MarkedRange.shares(of: .concealed, in: markedRanges, count: columnCount, length: step)
        return Paint.line(hasColours: style.hasColours, columnCount: grid.columnCount) { column in
            let isPlayed = position.map { step * column < $0 } ?? true
            let isAverage = grid.holdsAverage(row: row, column: column)
            let paint: Paint = concealed[column] > 0.1 ? .concealed : isAverage && isPlayed ? .sound : .peak
            return (grid.character(row: row, column: column), paint)
        }
    }

    /// Returns a row's label on the decibel axis. Only the upper half has labels, since the lower half mirrors it.
    private func label(_ row: Int) -> String {
        let middle = style.height / 2
        let step: Float = style.height >= 16 ? 10 : 20
        var text = row == middle - 1 ? fixed(Double(bars.floor), places: 0) : ""
        for level in axis.levels(step: step) {
            let place = Int(Float(middle) * (1 - axis.share(level)))
            guard place == row, place < middle - 1 else { continue }
            let texts = [axis.text(level), fixed(Double(level), places: 1), fixed(Double(level), places: 0)]
            text = texts.first { $0.count < TerminalStyle.marginWidth } ?? ""
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
        let axis = TimeAxis(step * columnCount, from: start, atMost: columnCount / 12)
        for moment in axis.moments {
            let words = Array("╵" + axis.text(moment))
            let column = Int((moment - start) / step)
            guard column + words.count <= columnCount else { continue }
            text.replaceSubrange(column..<column + words.count, with: words)
        }
        return String(text)
    }

    private func pointer(_ position: Duration) -> String {
        let column = min(max(Int(position / step), 0), columnCount - 1)
        let words = exactTimecode(start + position)
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
    /// Which levels are drawn.
    public var shows = PictureStyle.Shown.both
    /// Whether block characters are used instead of braille, at half the resolution.
    public var usesBlocks = false
    /// Whether escape sequences set colours, of the terminal's palette of 256.
    public var hasColours = false

    /// The permitted widths, in characters.
    public static let widths = 20...1_000
    /// The permitted heights, in lines.
    public static let heights = 2...200

    public init() {}

    /// The number of bars that fit into the width.
    public var barCount: Int { columnCount * barsPerColumn }

    static let marginWidth = 6
    var columnCount: Int { max(width - Self.marginWidth, 1) }
    var barsPerColumn: Int { usesBlocks ? 1 : 2 }
}
