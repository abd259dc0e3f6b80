internal import TenfourAudioCore

/// Sums of a recording of any length in a bounded number of cells of equal size. When all cells are used, each pair of
/// neighbours is merged into one cell.
struct CellSums: ~Copyable {
    /// The number of frames per cell: a power of two.
    private(set) var frameCount = 1

    private var cells: FixedBuffer<HeightBlock.Part>
    private var position = 0

    /// Creates `capacity` empty cells. `capacity` must be even.
    init(capacity: Int) { cells = FixedBuffer(repeating: HeightBlock.Part(), count: capacity) }

    mutating func append(_ block: borrowing HeightBlock) {
        var start = 0
        while start < block.count {
            if position == cells.count * frameCount { halve() }
            let cell = position / frameCount
            let end = min(start + (cell + 1) * frameCount - position, block.count)
            cells[cell].add(block.part(start..<end))
            position += end - start
            start = end
        }
    }

    /// Returns the sum and peak of the frames in `range`. If only a part of a cell lies in `range`, the cell
    /// contributes this part of its sum, and its whole peak.
    func part(_ range: Range<Int>) -> (sum: Double, peak: Int32) {
        var sum = 0.0
        var peak: Int32 = 0
        for cell in range.lowerBound / frameCount..<(range.upperBound + frameCount - 1) / frameCount {
            let own = cell * frameCount..<(cell + 1) * frameCount
            let share = Double(own.clamped(to: range).count) / Double(min(own.upperBound, position) - own.lowerBound)
            sum += min(share, 1) * Double(cells[cell].sum)
            peak = max(peak, cells[cell].peak)
        }
        return (sum, peak)
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
