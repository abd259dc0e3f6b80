internal import TenfourAudioCore

/// Draws one row of a picture on a canvas.
struct RowDrawing {
    private let row: WaveformPicture.Row
    private let style: PictureStyle
    private let layout: PictureLayout
    private let axis: LevelAxis
    private let palette: Palette
    private let top: Double
    /// The vertical position of the level plot's top.
    private let levelTop: Double
    private let middle: Double
    private let right: Double
    private let pitch: Double
    private let barWidth: Double
    private let concealed: [Double]

    /// The number of distinct shades that show the proportion of concealed or recovered audio in a bar.
    private static let shades = 8

    /// Draws `row` of `picture` below `top`.
    init(_ row: WaveformPicture.Row, _ picture: WaveformPicture, _ layout: PictureLayout, top: Double) {
        let style = picture.style
        self.row = row
        self.style = style
        self.layout = layout
        axis = LevelAxis(floor: row.bars.floor, top: picture.highestLevel)
        palette = layout.palette
        self.top = top
        levelTop = top + layout.headHeight
        middle = levelTop + layout.levelHeight / 2
        right = layout.right
        pitch = row.length / .seconds(1) * layout.pixelsPerSecond
        barWidth = max(pitch * style.barWidth / max(style.barWidth + style.spacing, 0.01), 0.05)
        concealed = MarkedRange.shares(of: .concealed, in: row.markedRanges, count: row.bars.count, length: row.length)
    }

    func draw(on canvas: borrowing Canvas) {
        if !row.title.isEmpty { canvas.write(row.title, layout.left, top + 14, size: 14, palette.ink, isBold: true) }
        drawBands(canvas)
        drawScale(canvas)
        if style.shows == .both {
            draw(row.bars.peaks, palette.peak, palette.concealed.mixed(with: palette.paper, 0.5), canvas)
        }
        draw(style.shows == .peak ? row.bars.peaks : row.bars.averages, palette.sound, palette.concealed, canvas)
        for loss in row.losses {
            let x = layout.x(loss)
            canvas.fill(area: [(x - 3.5, levelTop - 9), (x + 3.5, levelTop - 9), (x, levelTop - 2)], palette.concealed)
        }
        drawPosition(canvas)
        if !row.delays.isEmpty { drawDelays(canvas) }
        drawMoments(canvas)
    }

    // MARK: Levels

    /// The distance of a level from the plot's middle, in pixels. The floor is drawn at the middle.
    private func reach(_ level: Float) -> Double { Double(axis.share(level)) * layout.levelHeight / 2 }

    /// Draws lines at round numbers of decibels, as many as fit.
    private func drawScale(_ canvas: borrowing Canvas) {
        let step: Float = [5, 10, 20, 40].first { Double($0 / axis.range) * layout.levelHeight / 2 >= 18 } ?? 60
        for level in axis.levels(step: step) {
            let distance = reach(level)
            for y in [middle - distance, middle + distance] {
                canvas.stroke([(layout.left, y.rounded() + 0.5), (right, y.rounded() + 0.5)], palette.grid)
            }
            guard distance > 12 || level == row.bars.floor else { continue }
            canvas.write(
                axis.text(level), layout.left - 8, middle - distance + 4, size: 11, palette.faint, anchor: .end)
        }
    }

    private func draw(_ levels: [Float], _ colour: Colour, _ lost: Colour, _ canvas: borrowing Canvas) {
        let playedCount = row.position.map { Int($0 / max(row.length, .nanoseconds(1))) } ?? row.bars.count
        for shade in 0...Self.shades {
            for isPlayed in [true, false] {
                let indices = levels.indices.filter {
                    self.shade(concealed[$0]) == shade && ($0 < playedCount) == isPlayed
                }
                let mixed = colour.mixed(with: lost, Double(shade) / Double(Self.shades))
                draw(levels, indices, isPlayed ? mixed : mixed.mixed(with: palette.paper, 0.55), canvas)
            }
        }
    }

    private func draw(_ levels: [Float], _ indices: [Int], _ colour: Colour, _ canvas: borrowing Canvas) {
        func x(_ index: Int) -> Double { layout.left + Double(index) * pitch }
        guard barWidth >= 2.5 else {
            let bars = indices.map { index in
                // Gives a bar a height even if it is silent, so that silence is drawn as a line.
                let reach = max(reach(levels[index]), 0.4)
                return Rectangle(x(index), middle - reach, barWidth, 2 * reach)
            }
            return canvas.fill(bars, colour)
        }
        // Shortens each line, since its round ends are part of the bar's height. Silence is drawn as a dot.
        let lines = indices.map { index in
            let reach = max(reach(levels[index]) - barWidth / 2, 0)
            return (x: x(index) + barWidth / 2, top: middle - reach, bottom: middle + reach + 0.01)
        }
        canvas.strokeUpright(lines, width: barWidth, colour)
    }

    // MARK: Marked ranges

    /// Returns the shade for `share`, the proportion (0…1) of concealed or recovered audio in a bar. The shade grows
    /// with the square root, so that one lost packet is visible in a bar of a minute.
    private func shade(_ share: Double) -> Int {
        share > 0 ? max(Int((share.squareRoot() * Double(Self.shades)).rounded()), 1) : 0
    }

    private func drawBands(_ canvas: borrowing Canvas) {
        drawBands(concealed, palette.concealed, canvas)
        let recovered = MarkedRange.shares(
            of: .recovered, in: row.markedRanges, count: row.bars.count, length: row.length)
        drawBands(recovered, palette.recovered, canvas)
    }

    /// Draws a coloured band over each bar; its shade shows the bar's proportion in `shares`. Neighbouring bars of the
    /// same shade form one band.
    private func drawBands(_ shares: [Double], _ colour: Colour, _ canvas: borrowing Canvas) {
        var start = 0
        for index in shares.indices where index + 1 == shares.count || shade(shares[index + 1]) != shade(shares[index])
        {
            let shade = shade(shares[index])
            if shade > 0 {
                let band = Rectangle(
                    layout.left + Double(start) * pitch, levelTop, max(Double(index + 1 - start) * pitch, 1.5),
                    layout.levelHeight)
                canvas.fill(band, colour.with(alpha: 0.06 + 0.24 * Double(shade) / Double(Self.shades)))
            }
            start = index + 1
        }
    }

    private func drawPosition(_ canvas: borrowing Canvas) {
        guard let position = row.position, Duration.zero...row.duration ~= position else { return }
        let x = min(max(layout.x(position), layout.left), right)
        canvas.stroke([(x, levelTop - 4), (x, levelTop + layout.levelHeight)], width: 1.5, palette.passed)
        canvas.fill(area: [(x - 4, levelTop - 8), (x + 4, levelTop - 8), (x, levelTop - 1)], palette.passed)
        let isNearTheEnd = x > right - 60
        canvas.write(
            exactTimecode(row.start + position), isNearTheEnd ? x - 8 : x + 8, levelTop + 1, size: 11, palette.passed,
            anchor: isNearTheEnd ? .end : .start)
    }

    // MARK: Delays and time axis

    private func drawDelays(_ canvas: borrowing Canvas) {
        let height = layout.delayHeight - 10
        let bottom = levelTop + layout.levelHeight + layout.delayHeight
        let most = layout.mostDelay
        for share in [0, 0.5, 1] {
            let y = (bottom - height * share).rounded() + 0.5
            canvas.stroke([(layout.left, y), (right, y)], palette.grid)
            let text = fixed(most * share, places: 0) + (share == 1 ? " ms" : "")
            canvas.write(text, layout.left - 8, y + 4, size: 11, palette.faint, anchor: .end)
        }
        // Keeps one point per pixel column, with the longest delay in this column.
        var points: [(x: Double, y: Double)] = []
        for (moment, delay) in row.delays {
            let x = layout.x(moment).rounded()
            let y = bottom - height * min(max(delay / .milliseconds(1) / most, 0), 1)
            if points.last?.x == x {
                points[points.count - 1].y = min(points[points.count - 1].y, y)
            } else {
                points.append((x, y))
            }
        }
        canvas.stroke(points, width: 1.6, palette.delay)
    }

    private func drawMoments(_ canvas: borrowing Canvas) {
        let y = levelTop + layout.levelHeight + layout.delayHeight
        let width = right - layout.left
        let axis = TimeAxis(.seconds(width / layout.pixelsPerSecond), from: row.start, atMost: Int(width / 70))
        for moment in axis.moments {
            let x = layout.x(moment - row.start)
            canvas.stroke([(x, y), (x, y + 4)], palette.faint)
            canvas.write(axis.text(moment), x, y + 18, size: 11, palette.faint, anchor: .middle)
        }
    }
}
