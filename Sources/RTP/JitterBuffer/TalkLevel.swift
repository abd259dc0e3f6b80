public import TenfourAudioCore

/// Knows how loud a talker is while talking, and so which sound of theirs is a pause.
public struct TalkLevel: BitwiseCopyable, Sendable {
    /// The mean square of the loudest of late: how loud they are while talking.
    public private(set) var loudest: Float = 0
    private var quiet = FrameCount(0)

    /// 30 dB below the loudest nobody speaks, and below −70 dBFS nobody hears.
    private static var pauseShare: Float { 1e-3 }
    private static var inaudible: Float { 1e-7 }
    /// The loudest counts for some four seconds.
    private static var memory: Float { 200_000 }
    /// A shorter quiet is the closure of a consonant: 40 ms.
    private static var shortest: FrameCount { FrameCount(1_920) }

    @_noAllocation @_noLocks
    public init() {}

    /// Whether the sound that follows what it was told before, so loud (mean square) and so long, is part of a pause.
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
