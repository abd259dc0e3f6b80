/// The bars of a recording of which only parts have been read.
public struct PartialBars: Equatable, Sendable {
    /// All bars of the recording. A bar of which only a part has been read shows the levels of that part; one of which
    /// nothing has been read is at the floor. They are exact only if all of the recording has been read.
    public var bars: Bars
    /// The ranges of the bars of which at least a part has been read, in order.
    public var readRanges: [Range<Int>] = []
    /// The proportion of the recording that has been read, 0…1.
    public var readShare = 0.0

    /// Creates bars of which none has been read; complete ones if `isRead` is true.
    public init(bars: Bars, isRead: Bool = false) {
        self.bars = bars
        guard isRead else { return }
        readRanges = bars.count > 0 ? [0..<bars.count] : []
        readShare = 1
    }

    /// Appends a bar.
    mutating func append(average: Float, peak: Float, isRead: Bool) {
        let index = bars.count
        bars.averages.append(average)
        bars.peaks.append(peak)
        guard isRead else { return }
        if let last = readRanges.last, last.upperBound == index {
            readRanges[readRanges.count - 1] = last.lowerBound..<index + 1
        } else {
            readRanges.append(index..<index + 1)
        }
    }
}
