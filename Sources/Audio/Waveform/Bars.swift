public import TenfourAudioCore

/// The levels of equal parts of a recording, in decibels with full scale at 0.
public struct Bars: Equatable, Sendable {
    /// The mean level of each bar.
    public var averages: [Float] = []
    /// The highest level of each bar.
    public var peaks: [Float] = []
    /// The lowest possible level.
    public var floor: Float
    /// All frames, including those after the last bar.
    public var frameCount: FrameCount
    public var framesPerBar: FrameCount
    /// Whether the bars are exact: see `BarReduction`.
    public var isExact = true

    public var count: Int { averages.count }

    /// The mean and the highest level of all bars; the floor without bars.
    public var average: Float { averages.isEmpty ? floor : averages.reduce(0, +) / Float(averages.count) }
    public var peak: Float { peaks.max() ?? floor }

    public init(floor: Float = -70, frameCount: FrameCount = .zero, framesPerBar: FrameCount = FrameCount(1)) {
        self.floor = floor
        self.frameCount = frameCount
        self.framesPerBar = framesPerBar
    }
}
