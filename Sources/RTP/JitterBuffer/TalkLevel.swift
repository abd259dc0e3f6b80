public import TenfourAudioCore

/// Estimates the loudness of a talker's speech, and detects pauses by comparison with it.
public struct TalkLevel: BitwiseCopyable, Sendable {
    /// The mean square of the loudest audio of the last few seconds, which shows the loudness of the talker's speech.
    public private(set) var loudest: Float = 0
    /// The duration for which the audio has been quiet without interruption, at most `shortest`.
    private var quiet = FrameCount(0)

    /// The mean square below which audio is quiet, as a proportion of `loudest`: −30 dB.
    private static var pauseShare: Float { 1e-3 }
    /// The mean square below which audio is always quiet, because nobody hears it: −70 dBFS.
    private static var inaudible: Float { 1e-7 }
    /// The time constant, in frames, with which `loudest` decays: about four seconds.
    private static var memory: Float { 200_000 }
    /// The minimum duration of quiet audio that counts as a pause: 40 ms. A shorter silence is the closure of a
    /// consonant.
    private static var shortest: FrameCount { FrameCount(1_920) }

    @_noAllocation @_noLocks
    public init() {}

    /// Records the next audio, by its mean square and duration. Returns whether it is part of a pause.
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
