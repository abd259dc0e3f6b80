public import TenfourAudioCore

/// Estimates how loud a talker is while talking, and finds pauses by that.
public struct TalkLevel: BitwiseCopyable, Sendable {
    /// The mean square of the loudest audio of the last few seconds: the talker's level while talking.
    public private(set) var loudest: Float = 0
    private var quiet = FrameCount(0)

    /// A pause is 30 dB below the loudest, or below −70 dBFS, which nobody hears.
    private static var pauseShare: Float { 1e-3 }
    private static var inaudible: Float { 1e-7 }
    /// In frames: the loudest counts for about four seconds.
    private static var memory: Float { 200_000 }
    /// 40 ms. A shorter quiet is the closure of a consonant.
    private static var shortest: FrameCount { FrameCount(1_920) }

    @_noAllocation @_noLocks
    public init() {}

    /// Whether the next audio, with this mean square and length, is part of a pause.
    @_noAllocation @_noLocks
    public mutating func isPause(meanSquare: Float, lasting frames: FrameCount) -> Bool {
        loudest = max(meanSquare, loudest * max(1 - Float(frames.rawValue) / Self.memory, 0))
        guard meanSquare < max(loudest * Self.pauseShare, Self.inaudible) else {
            quiet = .zero
            return false
        }
        quiet = min(quiet + frames, Self.shortest)
        return quiet >= Self.shortest
    }
}
