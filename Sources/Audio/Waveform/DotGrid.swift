/// Bars drawn as dots in characters, mirrored at the middle. A braille character is two bars wide and four dots high; a
/// block character is one bar wide and two halves high.
///
/// All dots up to the average level are set, and every second dot between the average and the peak level.
struct DotGrid {
    let columnCount: Int

    private let usesBlocks: Bool
    /// The number of dots per character, vertically.
    private let dots: Int
    /// The number of characters above the middle, vertically.
    private let middle: Int
    /// The number of dots above the middle, vertically.
    private let reach: Int
    private let averages: [Int]
    private let peaks: [Int]
    private let barsPerColumn: Int

    init(_ bars: Bars, _ axis: LevelAxis, _ style: TerminalStyle) {
        self.init(
            bars, axis, height: style.height, columnCount: style.columnCount, shows: style.shows,
            usesBlocks: style.usesBlocks)
    }

    /// `height` is in characters. Bars that do not fit into `columnCount` characters are omitted.
    init(
        _ bars: Bars, _ axis: LevelAxis, height: Int, columnCount: Int, shows: PictureStyle.Shown = .both,
        usesBlocks: Bool = false
    ) {
        self.usesBlocks = usesBlocks
        barsPerColumn = usesBlocks ? 1 : 2
        dots = usesBlocks ? 2 : 4
        middle = max(height / 2, 1)
        let reach = middle * dots
        self.reach = reach
        func reaches(_ levels: [Float]) -> [Int] {
            // Sets at least one dot, so that silence is drawn as a line.
            levels.map { max(Int((Float(reach) * axis.share($0)).rounded()), 1) }
        }
        averages = reaches(shows == .peak ? bars.peaks : bars.averages)
        peaks = reaches(shows == .average ? bars.averages : bars.peaks)
        self.columnCount = min((bars.count + barsPerColumn - 1) / barsPerColumn, columnCount)
    }

    func holdsAverage(row: Int, column: Int) -> Bool {
        (0..<barsPerColumn).contains { bar in
            (0..<dots).contains { isSolid(column * barsPerColumn + bar, row * dots + $0) }
        }
    }

    func character(row: Int, column: Int) -> Character { usesBlocks ? block(row, column) : braille(row, column) }

    /// Returns a character of Unicode's braille block, which begins at U+2800 and has one bit per dot.
    private func braille(_ row: Int, _ column: Int) -> Character {
        let bits: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
        var pattern: UInt32 = 0x2800
        for bar in 0..<2 {
            for dot in 0..<4 where isSet(column * 2 + bar, row * 4 + dot) { pattern |= bits[bar][dot] }
        }
        return Character(UnicodeScalar(pattern) ?? " ")
    }

    private func block(_ row: Int, _ column: Int) -> Character {
        switch (isSolid(column, row * 2), isSolid(column, row * 2 + 1)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): distance(row * 2) <= peaks[column] || distance(row * 2 + 1) <= peaks[column] ? "░" : " "
        }
    }

    private func isSet(_ bar: Int, _ place: Int) -> Bool {
        guard bar < peaks.count else { return false }
        return isSolid(bar, place) || (distance(place) <= peaks[bar] && (bar + distance(place)) % 2 == 0)
    }

    private func isSolid(_ bar: Int, _ place: Int) -> Bool { bar < averages.count && distance(place) <= averages[bar] }

    /// The vertical distance of the dot `place` from the middle, in dots. `place` is counted from the top. The nearest
    /// dot above or below the middle has distance 1.
    private func distance(_ place: Int) -> Int { place < reach ? reach - place : place - reach + 1 }
}
