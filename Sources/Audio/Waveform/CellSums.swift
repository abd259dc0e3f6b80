internal import TenfourAudioCore

/// Sums of a recording of any length in a bounded number of cells of equal size. When all cells are used, each pair of
/// neighbours is merged into one cell.
struct CellSums: ~Copyable {
    /// The number of frames per cell: a power of two.
    private(set) var frameCount = 1

    private var cells: FixedBuffer<HeightBlock.Part>

    /// Creates `capacity` empty cells. `capacity` must be even.
    init(capacity: Int) { cells = FixedBuffer(repeating: HeightBlock.Part(), count: capacity) }

    /// Appends the frames `range` of a block whose first frame is at `position`.
    mutating func append(_ block: borrowing HeightBlock, _ range: Range<Int>, at position: Int) {
        var start = range.lowerBound
        while start < range.upperBound {
            while position + start >= cells.count * frameCount { halve() }
            let cell = (position + start) / frameCount
            let end = min((cell + 1) * frameCount - position, range.upperBound)
            cells[cell].add(block.part(start..<end))
            start = end
        }
    }

    /// Returns the sum, peak and number of the frames in `range` that were appended. If only a part of a cell lies in
    /// `range`, the cell contributes this part of its sum and number, and its whole peak.
    func part(_ range: Range<Int>) -> (sum: Double, peak: Int32, count: Double) {
        var sum = 0.0
        var count = 0.0
        var peak: Int32 = 0
        let end = min((range.upperBound + frameCount - 1) / frameCount, cells.count)
        for cell in min(range.lowerBound / frameCount, end)..<end where cells[cell].count > 0 {
            let own = cell * frameCount..<(cell + 1) * frameCount
            let share = min(Double(own.clamped(to: range).count) / Double(cells[cell].count), 1)
            sum += share * Double(cells[cell].sum)
            count += share * Double(cells[cell].count)
            peak = max(peak, cells[cell].peak)
        }
        return (sum, peak, count)
    }

    private mutating func halve() {
        for index in 0..<cells.count / 2 {
            var both = cells[2 * index]
            both.add(cells[2 * index + 1])
            cells[index] = both
        }
        for index in cells.count / 2..<cells.count { cells[index] = HeightBlock.Part() }
        frameCount *= 2
    }
}
