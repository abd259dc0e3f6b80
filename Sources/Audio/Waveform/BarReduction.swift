public import TenfourAudioCore

/// Reduces audio to the bars of a picture, block by block in bounded memory: an hour takes no more than a second.
///
/// The decimation factor is ⌊frames / bars⌋, at least 1. Each bar is the mean of the levels of this number of frames;
/// frames after the last bar are dropped. A level is 20·log10 of the magnitude of the frame's loudest sample, full
/// scale at 0 dB, limited below by the floor. Audio with fewer frames than bars has one bar per frame.
///
/// Since the factor depends on the length, one pass in bounded memory cannot be exact for an unknown length. Therefore:
///
/// - The bars are exact to the bit, whatever the block sizes, if the audio has at most 65 536 frames, or if its
///   expected and actual length differ by at most 16 384 frames, as with a length from a codec's header.
///
/// - Other audio is represented by sums over at least 32 768 cells. A bar that begins or ends within a cell gets a
///   proportional part of the cell's sum, and `Bars.isExact` is false. A second pass with the length now known is
///   exact.
///
/// Parts of the audio may be appended in any order (`move(to:)`); `partialBars(of:)` returns the bars of the parts so far.
public struct BarReduction: ~Copyable {
    /// The requested number of bars, limited to `barCounts`.
    public let barCount: Int
    /// The number of frames up to the last frame that was appended.
    public var frameCount: Int { appended.ranges.last?.upperBound ?? 0 }
    /// The position of the frame that is appended next.
    public private(set) var position = 0

    private let scale: DecibelScale
    private let channelCount: Int
    private var block: HeightBlock
    private var window: FactorWindow
    private var cells: CellSums
    /// The frames that were appended.
    private var appended = RangeSet<Int>()

    /// The largest position, in frames: 186 years at 48 kHz.
    private static let maximumPosition = 1 << 48

    /// The permitted numbers of bars.
    public static let barCounts = 1...65_536

    /// The permitted floors, in decibels.
    public static var floors: ClosedRange<Float> { DecibelScale.floors }

    /// Reduces interleaved audio of `channelCount` channels to `barCount` bars. `expected` is the number of frames that
    /// will be appended; nil if unknown. `floor` is the lowest level, in decibels, limited to `floors`.
    public init(barCount: Int, channelCount: Int = 1, expecting expected: FrameCount? = nil, floor: Float = -70) {
        self.barCount = min(max(barCount, Self.barCounts.lowerBound), Self.barCounts.upperBound)
        self.channelCount = max(channelCount, 1)
        scale = DecibelScale(floor: floor)
        block = HeightBlock(scale: scale)
        window = FactorWindow(
            barCount: self.barCount, expected: min(max(expected?.rawValue ?? 0, 0), Self.maximumPosition))
        cells = CellSums(capacity: max(65_536, 2 * self.barCount))
    }

    /// Appends interleaved samples, in whole frames.
    public mutating func append(_ samples: Span<Float>) {
        var start = 0
        while start < samples.count / channelCount {
            block.fill(samples, channelCount: channelCount, from: start)
            start += block.count
            appendBlock()
        }
    }

    /// Appends heights above the floor (`DecibelScale`) instead of samples, for tests of the reduction.
    package mutating func append(heights: Span<Int32>) {
        var start = 0
        while start < heights.count {
            block.fill(heights: heights, from: start)
            start += block.count
            appendBlock()
        }
    }

    /// Lets the next frames be those from `position` on. Frames that were appended before are left out if they are
    /// appended again.
    public mutating func move(to position: FrameCount) {
        self.position = min(max(position.rawValue, 0), Self.maximumPosition)
    }

    /// Whether the frame that is appended next was appended before.
    public var isRepeating: Bool { appended.contains(position) }

    private mutating func appendBlock() {
        let end = min(position + block.count, Self.maximumPosition)
        let range = position..<end
        if frameCount <= position {
            append(range)
        } else {
            for part in RangeSet(range).subtracting(appended).ranges { append(part) }
        }
        appended.insert(contentsOf: range)
        position = end
    }

    /// Appends the frames at the positions `range`, which are in the block.
    private mutating func append(_ range: Range<Int>) {
        let part = range.lowerBound - position..<range.upperBound - position
        window.append(block, part, at: position)
        cells.append(block, part, at: position)
    }

    /// Returns the bars of the audio so far.
    public func bars() -> Bars { partialBars(of: FrameCount(frameCount)).bars }

    /// Returns the bars of audio with `frameCount` frames in all, as far as they are known from the frames so far.
    public func partialBars(of frameCount: FrameCount) -> PartialBars {
        let whole = min(max(frameCount.rawValue, 0), Self.maximumPosition)
        let factor = max(whole / barCount, 1)
        let isInWindow = window.factors.contains(factor)
        var bars = Bars(floor: scale.floor, frameCount: FrameCount(whole), framesPerBar: FrameCount(factor))
        let isWhole = appended == RangeSet(0..<whole)
        bars.isExact = isWhole && (isInWindow || factor % cells.frameCount == 0)
        var partial = PartialBars(bars: bars)
        var count = 0.0
        for index in 0..<min(whole, barCount) {
            let part =
                isInWindow ? window.bar(index, factor: factor) : cells.part(index * factor..<(index + 1) * factor)
            count += part.count
            // Divides by the whole number of frames of a complete bar, so that rounding cannot change it.
            let isComplete = isWhole || part.count >= Double(factor)
            partial.append(
                average: scale.level(part.count > 0 ? part.sum / (isComplete ? Double(factor) : part.count) : 0),
                peak: scale.level(Double(part.peak)), isRead: part.count > 0)
        }
        partial.readShare = whole > 0 ? min(count / Double(factor * min(whole, barCount)), 1) : 0
        return partial
    }
}
