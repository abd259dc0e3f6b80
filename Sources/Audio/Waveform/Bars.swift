public import TenfourAudioCore

/// The levels of equal parts of a recording, in decibels. 0 dB is full scale.
public struct Bars: Equatable, Sendable {
    /// The mean level of each bar.
    public var averages: [Float] = []
    /// The highest level of each bar.
    public var peaks: [Float] = []
    /// The lowest level that a bar can have.
    public var floor: Float
    /// The number of frames of the recording, including frames after the last bar.
    public var frameCount: FrameCount
    /// The number of frames that each bar stands for.
    public var framesPerBar: FrameCount
    /// Whether the bars are exact, or approximated because the length was unknown (`BarReduction`).
    public var isExact = true

    /// The number of bars.
    public var count: Int { averages.count }

    /// The mean of all bars' mean levels; `floor` if there are no bars.
    public var average: Float { averages.isEmpty ? floor : averages.reduce(0, +) / Float(averages.count) }
    /// The highest level of all bars; `floor` if there are no bars.
    public var peak: Float { peaks.max() ?? floor }

    /// Returns the highest level of all bars as it is shown: of the mean levels for `.average`, else of the peaks.
    public func highest(_ shown: PictureStyle.Shown) -> Float {
        (shown == .average ? averages.max() : peaks.max()) ?? floor
    }

    public init(floor: Float = -70, frameCount: FrameCount = .zero, framesPerBar: FrameCount = FrameCount(1)) {
        self.floor = floor
        self.frameCount = frameCount
        self.framesPerBar = framesPerBar
    }
}
