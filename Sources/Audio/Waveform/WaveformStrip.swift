public import TenfourAudioCore

/// A recording that is being played, drawn over the whole width of a terminal in colours: its levels, and beneath them a
/// line with the part that was played, the position, and the part that has arrived.
///
/// Each column stands for an equal part of the duration, so that a click on a column names a time.
public struct WaveformStrip: Equatable, Sendable {
    /// The bars as far as they are known; nil for none.
    public var partialBars: PartialBars?
    /// The rate of the recording that the bars show.
    public var rate: SampleRate
    /// The duration that the width stands for.
    public var duration: Duration
    public var position: Duration
    /// The proportion of the recording (0…1) up to which it has arrived.
    public var arrived = 1.0
    public var markedRanges: [MarkedRange] = []

    public init(
        _ partialBars: PartialBars?, rate: SampleRate = .opus, duration: Duration, position: Duration = .zero
    ) {
        self.partialBars = partialBars
        self.rate = rate
        self.duration = duration
        self.position = position
    }

    /// Returns the time for which a column stands: that at its middle.
    public static func time(atColumn column: Int, ofWidth width: Int, duration: Duration) -> Duration {
        duration * ((Double(min(max(column, 0), max(width, 1) - 1)) + 0.5) / Double(max(width, 1)))
    }

    /// Returns the column of a time.
    static func column(of time: Duration, ofWidth width: Int, duration: Duration) -> Int {
        guard duration > .zero else { return 0 }
        return min(max(Int((time / duration * Double(width)).rounded(.down)), 0), width - 1)
    }

    /// Returns `height` lines of `width` characters, an even number at least 2, and one line beneath them.
    public func lines(width: Int, height: Int) -> [String] {
        let width = max(width, 1)
        let levels = StripLevels(partialBars, rate: rate, duration: duration, count: 2 * width)
        let axis = LevelAxis(floor: levels.bars.floor, top: 0)
        let grid = DotGrid(levels.bars, axis, height: height, columnCount: width)
        let cursor = Self.column(of: position, ofWidth: width, duration: duration)
        let concealed = MarkedRange.shares(
            of: .concealed, in: markedRanges, count: width, length: duration / Double(width))
        let rows = (0..<height).map { row in
            Paint.line(hasColours: true, columnCount: width) { column in
                if column == cursor { return ("│", .position) }
                guard levels.isRead[2 * column] || levels.isRead[2 * column + 1] else { return (" ", .faint) }
                let paint: Paint = concealed[column] > 0.1 ? .concealed : column < cursor ? .played : .peak
                return (grid.character(row: row, column: column), paint)
            }
        }
        let end = Int((min(max(arrived, 0), 1) * Double(width)).rounded(.up))
        let progress = Paint.line(hasColours: true, columnCount: width) { column in
            if column == cursor { return ("●", .position) }
            if column < cursor { return ("━", .played) }
            return column < end ? ("─", .peak) : ("┈", .faint)
        }
        return rows + [progress]
    }
}

/// The bars of a strip: equal parts of its duration.
private struct StripLevels {
    var bars: Bars
    var isRead: [Bool]

    /// Converts bars of any length to `count` bars: their mean levels and highest peaks. A part without bars is silent.
    init(_ partial: PartialBars?, rate: SampleRate, duration: Duration, count: Int) {
        let source = partial?.bars ?? Bars()
        bars = Bars(floor: source.floor)
        isRead = [Bool](repeating: false, count: count)
        bars.averages = [Float](repeating: source.floor, count: count)
        bars.peaks = bars.averages
        let length = source.framesPerBar.duration(at: rate)
        guard let partial, duration > .zero, length > .zero else { return }
        // The number of bars per part.
        let step = duration / length / Double(count)
        guard (1e-9...1e9).contains(step) else { return }
        for range in partial.readRanges {
            for index in max(Int(Double(range.lowerBound) / step) - 1, 0)..<count {
                let start = Int(Double(index) * step)
                guard start < range.upperBound else { break }
                let end = max(Int(Double(index + 1) * step), start + 1)
                let part = (start..<end).clamped(to: range)
                guard !part.isEmpty else { continue }
                let sum = source.averages[part].reduce(0, +)
                bars.averages[index] = sum / Float(part.count)
                bars.peaks[index] = max(bars.peaks[index], source.peaks[part].max() ?? source.floor)
                isRead[index] = true
            }
        }
    }
}
