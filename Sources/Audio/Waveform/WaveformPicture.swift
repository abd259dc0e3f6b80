public import TenfourAudioCore

/// Recordings drawn above each other on one time axis: levels, lost, concealed and recovered parts, and the delay
/// beneath.
public struct WaveformPicture: Sendable {
    /// The line at the top, in bold.
    public var title: String
    /// A smaller line beneath the title.
    public var note: String
    /// The recordings, from the top.
    public var rows: [Row]
    public var style: PictureStyle
    /// The level at the top of the scale, in decibels. With `Bars.highest` of the loudest row, its loudest bar has the
    /// full height.
    public var highestLevel: Float = 0

    /// One recording of the picture, or one channel of it.
    public struct Row: Sendable {
        /// The label above the bars.
        public var title: String
        public var bars: Bars
        /// The sample rate of the recording, by which bars have their times.
        public var rate: SampleRate
        /// The position of the first bar in the recording. The other moments count from it.
        public var start = Duration.zero
        /// The lost parts, which are drawn in colours.
        public var markedRanges: [MarkedRange] = []
        /// The moments of packet loss.
        public var losses: [Duration] = []
        /// Playout delays, in time order.
        public var delays: [(at: Duration, delay: Duration)] = []
        /// The playback position; nil if none is drawn.
        public var position: Duration?

        public init(title: String = "", bars: Bars, rate: SampleRate = .opus) {
            self.title = title
            self.bars = bars
            self.rate = rate
        }

        /// The duration of a bar.
        var length: Duration { bars.framesPerBar.duration(at: rate) }
        /// The duration of all bars.
        var duration: Duration { length * bars.count }
    }

    public init(title: String, note: String = "", rows: [Row], style: PictureStyle = .init()) {
        self.title = title
        self.note = note
        self.rows = rows
        self.style = style
    }

    /// Returns the bytes of the picture's file. Throws if there is not enough memory.
    public func file(_ format: PictureFormat) throws(PictureError) -> [UInt8] {
        let layout = PictureLayout(self)
        let canvas = try Canvas(width: style.width, height: layout.height, format: format)
        canvas.fill(Rectangle(0, 0, Double(style.width), Double(layout.height)), layout.palette.paper)
        canvas.write(title, layout.left, 30, size: 17, layout.palette.ink, isBold: true)
        canvas.write(note, layout.left, 50, layout.palette.faint)
        drawLegend(canvas, layout)
        for (index, row) in rows.enumerated() {
            RowDrawing(row, self, layout, top: layout.top + layout.rowHeight * Double(index)).draw(on: canvas)
        }
        return try canvas.finished()
    }

    /// Draws the legend of the colours used, at the right, if it fits beside the note.
    private func drawLegend(_ canvas: borrowing Canvas, _ layout: PictureLayout) {
        let palette = layout.palette
        func has(_ kind: MarkedRange.Kind) -> Bool { rows.contains { $0.markedRanges.contains { $0.kind == kind } } }
        let entries: [(Colour, String, isThere: Bool)] = [
            (palette.sound, "average", style.shows == .both), (palette.peak, "peak", style.shows == .both),
            (palette.concealed, "packet lost", rows.contains { !$0.losses.isEmpty }),
            (palette.concealed, "concealed", has(.concealed)), (palette.recovered, "recovered", has(.recovered)),
            (palette.delay, "delay of playout", rows.contains { !$0.delays.isEmpty }),
        ]
        let shown = entries.filter(\.isThere)
        let widths = shown.map { canvas.width(of: $0.1) + 36 }
        var x = layout.right - widths.reduce(-20, +)
        guard x > layout.left + canvas.width(of: note) + 16 else { return }
        for (entry, width) in zip(shown, widths) {
            if entry.1 == "packet lost" {
                canvas.fill(area: [(x, 41), (x + 10, 41), (x + 5, 50)], entry.0)
            } else {
                canvas.fill(Rectangle(x, 41, 10, 10), entry.0)
            }
            canvas.write(entry.1, x + 16, 50, palette.faint)
            x += width
        }
    }
}

/// The style of a picture.
public struct PictureStyle: Hashable, Sendable {
    /// The picture's width in pixels.
    public var width = 1_200
    /// The picture's height in pixels; nil: the height that the content requires.
    public var height: Int?
    /// The width of a bar, in pixels.
    public var barWidth = 3.0
    /// The space between two bars, in pixels.
    public var spacing = 1.0
    /// Which levels are drawn.
    public var shows = Shown.both
    /// Whether the picture is light on dark.
    public var isDark = false

    /// The levels that are drawn: the mean of a bar, its highest level, or both behind each other.
    public enum Shown: Hashable, Sendable { case average, peak, both }

    /// The permitted widths, in pixels.
    public static let widths = 200...16_384
    /// The permitted heights, in pixels.
    public static let heights = 120...16_384

    public init() {}

    /// The number of bars that fit into the picture's width.
    public var barCount: Int {
        max(Int((PictureLayout.plotWidth(of: width) + spacing) / max(barWidth + spacing, 0.01)), 1)
    }
}

/// The layout of a picture, in pixels.
struct PictureLayout {
    let palette: Palette
    let height: Int
    let rowHeight: Double
    /// The height of a row's level plot.
    let levelHeight: Double
    /// The height of a row's delay plot.
    let delayHeight: Double
    /// The height of a row's heading.
    let headHeight: Double
    /// The left edge of the plots.
    let left = Self.leftMargin
    /// The right edge of the plots.
    let right: Double
    let top = 66.0
    /// The number of pixels per second of the recording.
    let pixelsPerSecond: Double
    /// The delay at the top of the delay plot, in milliseconds: the same in all rows, for comparison.
    let mostDelay: Double

    static let leftMargin = 58.0
    static let rightMargin = 24.0
    /// The height of the time axis.
    static let axisHeight = 30.0
    private static let usualLevelHeight = 190.0
    private static let delayGap = 10.0

    static func plotWidth(of width: Int) -> Double { Double(width) - leftMargin - rightMargin }

    init(_ picture: WaveformPicture) {
        let style = picture.style
        palette = style.isDark ? .dark : .light
        right = Double(style.width) - Self.rightMargin
        let rowCount = Double(max(picture.rows.count, 1))
        headHeight = picture.rows.contains { !$0.title.isEmpty } ? 32 : 8
        delayHeight = picture.rows.contains { !$0.delays.isEmpty } ? 90 : 0
        let beside = headHeight + delayHeight + Self.axisHeight
        var levelHeight = Self.usualLevelHeight
        if let height = style.height { levelHeight = (Double(height) - top) / rowCount - beside }
        self.levelHeight = max(levelHeight, 16)
        rowHeight = self.levelHeight + beside
        let bottom = top + rowHeight * rowCount
        // Higher than asked for if the rows do not fit.
        height = max(style.height ?? Int(bottom + 8), Int(bottom))

        let longestDelay = (picture.rows.flatMap { $0.delays.map(\.delay) }.max() ?? .zero) / .milliseconds(1)
        mostDelay = [20.0, 50, 100, 200, 300, 500, 1_000, 2_000].first { $0 * 1.05 >= longestDelay } ?? 5_000
        let longest = picture.rows.max { $0.duration < $1.duration }
        let seconds = max((longest?.duration ?? .zero) / .seconds(1), 1e-6)
        // If the bars fill the width, each keeps its width and spacing in pixels. Fewer bars are stretched to the full
        // width.
        let isFull = longest?.bars.count == style.barCount
        let width =
            isFull ? Double(style.barCount) * (style.barWidth + style.spacing) : Self.plotWidth(of: style.width)
        pixelsPerSecond = width / seconds
    }

    func x(_ moment: Duration) -> Double { left + moment / .seconds(1) * pixelsPerSecond }
}
