public import TenfourAudioCore

/// What there is to see of a sound: how loud each part of it is, the parts being of one length. All in decibels, full scale at 0.
public struct Bars: Equatable, Sendable {
    /// Of each bar the mean of its levels.
    public var averages: [Float] = []
    /// Of each bar the highest of its levels.
    public var peaks: [Float] = []
    /// The lowest that a level can be.
    public var floor: Float
    /// Of the whole sound, with what lies behind the last bar.
    public var frameCount: FrameCount
    public var framesPerBar: FrameCount
    /// Whether they are right to the frame: see `BarReduction`.
    public var isExact = true

    public var count: Int { averages.count }

    /// Of all of it: the mean, and the highest. The floor where there is nothing.
    public var average: Float { averages.isEmpty ? floor : averages.reduce(0, +) / Float(averages.count) }
    public var peak: Float { peaks.max() ?? floor }

    public init(floor: Float = -70, frameCount: FrameCount = .zero, framesPerBar: FrameCount = FrameCount(1)) {
        self.floor = floor
        self.frameCount = frameCount
        self.framesPerBar = framesPerBar
    }
}
