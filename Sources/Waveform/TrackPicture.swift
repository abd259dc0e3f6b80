internal import Sound

/// Tracks above each other on one axis of time: levels, what was lost, made up and brought back, and the delay beneath.
public struct TrackPicture: Sendable {
    /// What it shows.
    public var title: String
    public var rows: [Row]

    /// One track.
    public struct Row: Sendable {
        public var title: String
        public var track: SoundTrack
        /// When packets were lost.
        public var losses: [Duration]

        public init(title: String, track: SoundTrack, losses: [Duration] = []) {
            self.title = title
            self.track = track
            self.losses = losses
        }
    }

    public init(title: String, rows: [Row]) {
        self.title = title
        self.rows = rows
    }

    private static let width = 1_200.0
    private static let left = 64.0
    private static let right = 24.0
    private static let top = 78.0
    private static let levelHeight = 170.0
    private static let delayHeight = 80.0
    private static let gap = 66.0
    /// In decibels, what the middle of a track stands for.
    private static let quietest: Float = -60

    private enum Colour {
        static let paper = "#ffffff"
        static let ink = "#1f2933"
        static let faint = "#8492a0"
        static let grid = "#e4e9ee"
        static let sound = "#2f6690"
        static let peak = "#a9c6dc"
        static let concealed = "#e5383b"
        static let recovered = "#2b9348"
        static let lost = "#e5383b"
        static let delay = "#f48c06"
    }

    /// As a file of SVG.
    public var svg: String {
        let rowHeight = Self.levelHeight + Self.delayHeight + Self.gap
        var drawing = SVG(width: Self.width, height: Self.top + rowHeight * Double(rows.count) + 16)
        drawing.rectangle(0, 0, Self.width, Self.top + rowHeight * Double(rows.count) + 16, Colour.paper)
        drawing.text(title, Self.left, 30, size: 18, Colour.ink, isBold: true)
        drawLegend(&drawing)
        for (index, row) in rows.enumerated() { draw(row, at: Self.top + rowHeight * Double(index), &drawing) }
        return drawing.file
    }

    private var seconds: Double { max(rows.map { $0.track.duration / .seconds(1) }.max() ?? 0, 0.1) }

    private var plotWidth: Double { Self.width - Self.left - Self.right }

    private func x(_ duration: Duration) -> Double { Self.left + duration / .seconds(1) / seconds * plotWidth }

    /// The same for all rows, so that they can be compared: a round number of milliseconds.
    private var mostDelay: Double {
        let most = rows.flatMap { $0.track.columns.compactMap(\.delay) }.max() ?? .zero
        let steps = [20.0, 50, 100, 200, 300, 500, 1_000, 2_000]
        return steps.first { $0 * 1.05 >= most / .milliseconds(1) } ?? 5_000
    }

    private func drawLegend(_ drawing: inout SVG) {
        var x = Self.left
        for (colour, words) in [
            (Colour.sound, "level"), (Colour.lost, "packet lost"), (Colour.concealed, "made up"),
            (Colour.recovered, "brought back"), (Colour.delay, "delay of playout"),
        ] {
            if words == "packet lost" {
                drawing.area([(x + 1, 44), (x + 11, 44), (x + 6, 53)], colour)
            } else {
                drawing.rectangle(
                    x, 44, 12, 10, colour, opacity: words == "made up" || words == "brought back" ? 0.35 : 1)
            }
            drawing.text(words, x + 17, 53, size: 12, Colour.faint)
            x += 38 + 7 * Double(words.count)
        }
    }

    private func draw(_ row: Row, at top: Double, _ drawing: inout SVG) {
        let columns = row.track.reduced(to: Int(plotWidth))
        let width = row.track.duration / .seconds(1) / seconds * plotWidth / Double(max(columns.count, 1))
        drawing.text(row.title, Self.left, top + 12, size: 14, Colour.ink, isBold: true)
        let levelTop = top + 32
        let delayTop = levelTop + Self.levelHeight + 6
        drawStretches(columns, width, levelTop, Colour.concealed, \.concealed, &drawing)
        drawStretches(columns, width, levelTop, Colour.recovered, \.recovered, &drawing)
        drawLevels(columns, width, levelTop, &drawing)
        for loss in row.losses {
            let x = x(loss)
            drawing.area([(x - 3.5, levelTop - 9), (x + 3.5, levelTop - 9), (x, levelTop - 2)], Colour.lost)
        }
        drawDelay(columns, width, delayTop, &drawing)
        drawTimes(delayTop + Self.delayHeight, &drawing)
    }

    /// Neighbours that are alike are drawn as one.
    private func drawStretches(
        _ columns: [SoundTrack.Column], _ width: Double, _ top: Double, _ colour: String,
        _ share: KeyPath<SoundTrack.Column, Double>, _ drawing: inout SVG
    ) {
        var start: Int?
        for index in 0...columns.count {
            let isMarked = index < columns.count && columns[index][keyPath: share] > 0.1
            if isMarked, start == nil { start = index }
            guard !isMarked, let first = start else { continue }
            drawing.rectangle(
                Self.left + Double(first) * width, top, max(Double(index - first) * width, 1.5), Self.levelHeight,
                colour,
                opacity: 0.35)
            start = nil
        }
    }

    /// Mirrored about the middle: as loud as far from it, on a scale of decibels.
    private func drawLevels(_ columns: [SoundTrack.Column], _ width: Double, _ top: Double, _ drawing: inout SVG) {
        let middle = top + Self.levelHeight / 2
        for decibels: Float in [-40, -20, 0] {
            let distance = reach(Level(decibels: decibels))
            for y in [middle - distance, middle + distance] {
                drawing.line([(Self.left, y), (Self.width - Self.right, y)], Colour.grid)
            }
            drawing.text("\(Int(decibels))", Self.left - 8, middle - distance + 4, size: 11, Colour.faint, anchor: .end)
        }
        drawing.text("dBFS", Self.left - 8, middle + 4, size: 11, Colour.faint, anchor: .end)
        drawOutline(columns.map(\.peak), width, middle, Colour.peak, &drawing)
        drawOutline(columns.map(\.level), width, middle, Colour.sound, &drawing)
    }

    private func drawOutline(
        _ levels: [Level], _ width: Double, _ middle: Double, _ colour: String, _ drawing: inout SVG
    ) {
        var upper: [(x: Double, y: Double)] = []
        var lower: [(x: Double, y: Double)] = []
        for (index, level) in levels.enumerated() {
            let x = Self.left + (Double(index) + 0.5) * width
            // Silence is a line.
            let distance = max(reach(level), 0.4)
            upper.append((x, middle - distance))
            lower.append((x, middle + distance))
        }
        drawing.area(upper + lower.reversed(), colour)
    }

    private func reach(_ level: Level) -> Double {
        let share = 1 - Double(min(max(level.decibels / Self.quietest, 0), 1))
        return share * Self.levelHeight / 2
    }

    private func drawDelay(_ columns: [SoundTrack.Column], _ width: Double, _ top: Double, _ drawing: inout SVG) {
        let most = mostDelay
        for share in [0, 0.5, 1] {
            let y = top + Self.delayHeight * (1 - share)
            drawing.line([(Self.left, y), (Self.width - Self.right, y)], Colour.grid)
            if share > 0 {
                drawing.text("\(Int(most * share))", Self.left - 8, y + 4, size: 11, Colour.faint, anchor: .end)
            }
        }
        drawing.text("ms", Self.left - 8, top + Self.delayHeight + 4, size: 11, Colour.faint, anchor: .end)
        var points: [(x: Double, y: Double)] = []
        for (index, column) in columns.enumerated() {
            guard let delay = column.delay else { continue }
            let share = min(max(delay / .milliseconds(1) / most, 0), 1)
            points.append((Self.left + (Double(index) + 0.5) * width, top + Self.delayHeight * (1 - share)))
        }
        drawing.line(points, Colour.delay, width: 1.6)
    }

    private func drawTimes(_ y: Double, _ drawing: inout SVG) {
        let step = [1.0, 2, 5, 10, 30, 60, 300, 600, 3_600].first { seconds / $0 <= 16 } ?? 7_200
        for tick in 0...Int(seconds / step) {
            let x = x(.seconds(Double(tick) * step))
            drawing.line([(x, y), (x, y + 4)], Colour.faint)
            drawing.text("\(Int(Double(tick) * step)) s", x, y + 17, size: 11, Colour.faint, anchor: .middle)
        }
    }
}
