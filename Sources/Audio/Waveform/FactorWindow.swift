internal import TenfourAudioCore

/// Bars by each of the decimation factors that a sound may turn out to have, when its length is nearly known.
struct FactorWindow: ~Copyable {
    let factors: ClosedRange<Int>

    private let barCount: Int
    /// Of the first factor all bars, then of the next.
    private var bars: FixedBuffer<HeightBlock.Part>

    /// By how many frames the length may be other than expected: more than the delay and padding of any codec. The memory this
    /// takes does not depend on the number of bars, since with more of them fewer factors lie so near.
    static let tolerance = 16_384

    init(barCount: Int, expected: Int) {
        factors = max((expected - Self.tolerance) / barCount, 1)...max((expected + Self.tolerance) / barCount, 1)
        self.barCount = barCount
        bars = FixedBuffer(repeating: HeightBlock.Part(), count: factors.count * barCount)
    }

    /// `position` is that of the block's first frame.
    mutating func append(_ block: borrowing HeightBlock, at position: Int) {
        var row = 0
        for factor in factors {
            var bar = position / factor
            var start = 0
            while start < block.count, bar < barCount {
                let end = min((bar + 1) * factor - position, block.count)
                bars[row + bar].add(block.part(start..<end))
                start = end
                bar += 1
            }
            row += barCount
        }
    }

    /// The sum and peak of a bar, by a factor that lies among `factors`.
    func bar(_ index: Int, factor: Int) -> (sum: Double, peak: Int32) {
        let part = bars[(factor - factors.lowerBound) * barCount + index]
        return (Double(part.sum), part.peak)
    }
}
