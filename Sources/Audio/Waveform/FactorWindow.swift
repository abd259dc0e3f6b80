internal import TenfourAudioCore

/// The bars of a recording whose length is known approximately, for each possible decimation factor (the number of
/// frames per bar).
struct FactorWindow: ~Copyable {
    let factors: ClosedRange<Int>

    private let barCount: Int
    /// All bars of the lowest decimation factor, followed by all bars of the next factor, and so on.
    private var bars: FixedBuffer<HeightBlock.Part>

    /// The maximum difference between the actual and the expected length, in frames: more than the delay and padding of
    /// any codec. The memory does not depend on the number of bars: with more bars, fewer factors are possible within
    /// the tolerance.
    static let tolerance = 16_384

    init(barCount: Int, expected: Int) {
        factors = max((expected - Self.tolerance) / barCount, 1)...max((expected + Self.tolerance) / barCount, 1)
        self.barCount = barCount
        bars = FixedBuffer(repeating: HeightBlock.Part(), count: factors.count * barCount)
    }

    /// Appends the frames `range` of a block whose first frame is at `position`.
    mutating func append(_ block: borrowing HeightBlock, _ range: Range<Int>, at position: Int) {
        var row = 0
        for factor in factors {
            var start = range.lowerBound
            var bar = (position + start) / factor
            while start < range.upperBound, bar < barCount {
                let end = min((bar + 1) * factor - position, range.upperBound)
                bars[row + bar].add(block.part(start..<end))
                start = end
                bar += 1
            }
            row += barCount
        }
    }

    /// Returns the sum, peak and number of the frames of the bar at `index` that were appended, if each bar has `factor`
    /// frames; `factor` must be in `factors`.
    func bar(_ index: Int, factor: Int) -> (sum: Double, peak: Int32, count: Double) {
        let part = bars[(factor - factors.lowerBound) * barCount + index]
        return (Double(part.sum), part.peak, Double(part.count))
    }
}
