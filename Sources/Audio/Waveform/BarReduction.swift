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
public struct BarReduction: ~Copyable {
    /// The requested number of bars, limited to `barCounts`.
    public let barCount: Int
    /// The number of frames appended so far.
    public private(set) var frameCount = 0

    private let scale: DecibelScale
    private let channelCount: Int
    private var block: HeightBlock
    private var window: FactorWindow
    private var cells: CellSums

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
        window = FactorWindow(barCount: self.barCount, expected: min(max(expected?.rawValue ?? 0, 0), 1 << 48))
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

    private mutating func appendBlock() {
        window.append(block, at: frameCount)
        cells.append(block)
        frameCount += block.count
    }

    /// Returns the bars of the audio so far.
    public func bars() -> Bars {
        let factor = max(frameCount / barCount, 1)
        let count = min(frameCount, barCount)
        let isInWindow = window.factors.contains(factor)
        var bars = Bars(floor: scale.floor, frameCount: FrameCount(frameCount), framesPerBar: FrameCount(factor))
        bars.isExact = isInWindow || factor % cells.frameCount == 0
        for index in 0..<count {
            let (sum, peak) =
                isInWindow ? window.bar(index, factor: factor) : cells.part(index * factor..<(index + 1) * factor)
            bars.averages.append(scale.level(sum / Double(factor)))
            bars.peaks.append(scale.level(Double(peak)))
        }
        return bars
    }
}
