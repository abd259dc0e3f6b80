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
    public var framesPerBar: FrameCount
    /// Whether the bars are exact, or approximated because the length was unknown (`BarReduction`).
    public var isExact = true

    public var count: Int { averages.count }

    /// The mean of all bars' mean levels; `floor` if there are no bars.
    public var average: Float { averages.isEmpty ? floor : averages.reduce(0, +) / Float(averages.count) }
    /// The highest level of all bars; `floor` if there are no bars.
    public var peak: Float { peaks.max() ?? floor }

    public init(floor: Float = -70, frameCount: FrameCount = .zero, framesPerBar: FrameCount = FrameCount(1)) {
        self.floor = floor
        self.frameCount = frameCount
        self.framesPerBar = framesPerBar
    }
}
