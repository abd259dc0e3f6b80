public import TenfourAudioCore

/// Sound on its way to the bars that fit a picture, block by block in bounded memory: an hour takes no more than a second does.
///
/// The rule: the decimation factor is ⌊frames / bars⌋, and at least 1; each bar is the mean of so many levels, one for each frame;
/// the remainder is dropped. A level is 20·log10 of the magnitude of the frame's loudest sample, full scale being 0 dB, and nothing
/// is below the floor. A sound of fewer frames than bars has a bar for each.
///
/// Since the factor follows from the length, no one pass in bounded memory can keep the rule for a length that nobody knew. So:
/// - Expected right to 16 384 frames, as codecs say it in their headers, or no longer than 65 536 frames: the bars are exact, and
///   the same to the bit whatever the blocks were.
/// - Else sums over 32 768 cells or more stand for the sound, and a bar that begins or ends within a cell has its share of that:
///   `Bars.isExact` is false. Who can read again, with the length now known, has them exact.
public struct BarReduction: ~Copyable {
    /// Up to 65 536.
    public let barCount: Int
    /// So far.
    public private(set) var frameCount = 0

    private let scale: DecibelScale
    private let channelCount: Int
    private var block: HeightBlock
    private var window: FactorWindow
    private var cells: CellSums

    public static let barCounts = 1...65_536

    /// In decibels, what a level may be cut off at.
    public static var floors: ClosedRange<Float> { DecibelScale.floors }

    /// To so many bars, from interleaved sound of so many channels. `expected` is how many frames there will be, if anybody knows.
    public init(barCount: Int, channelCount: Int = 1, expecting expected: FrameCount? = nil, floor: Float = -70) {
        self.barCount = min(max(barCount, Self.barCounts.lowerBound), Self.barCounts.upperBound)
        self.channelCount = max(channelCount, 1)
        scale = DecibelScale(floor: floor)
        block = HeightBlock(scale: scale)
        window = FactorWindow(barCount: self.barCount, expected: min(max(expected?.rawValue ?? 0, 0), 1 << 48))
        cells = CellSums(capacity: max(65_536, 2 * self.barCount))
    }

    /// Takes what comes next: whole frames.
    public mutating func append(_ samples: Span<Float>) {
        var start = 0
        while start < samples.count / channelCount {
            block.fill(samples, channelCount: channelCount, from: start)
            start += block.count
            takeBlock()
        }
    }

    /// The same for heights: what the rule is tested with.
    package mutating func append(heights: Span<Int32>) {
        var start = 0
        while start < heights.count {
            block.fill(heights: heights, from: start)
            start += block.count
            takeBlock()
        }
    }

    private mutating func takeBlock() {
        window.append(block, at: frameCount)
        cells.append(block)
        frameCount += block.count
    }

    /// As if the sound ended here.
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
