internal import Glibc
internal import TenfourAudioCore

/// What a talker should change about the microphone.
public enum LevelAdvice: UInt8, BitwiseCopyable, Sendable {
    /// Speech clips, or is above −9 dBFS: talk from farther away, or lower the gain of the microphone.
    case tooLoud = 1
    /// Speech is below −42 dBFS: come nearer, or raise the gain of the microphone.
    case tooQuiet = 2
}

/// Judges the level of speech at a microphone. A block is speech if it is 9 dB above the background noise.
struct LevelMonitor: Sendable {
    /// The judgement of the last seconds of speech; nil if the level is good, or nobody has talked for long enough.
    private(set) var advice: LevelAdvice?

    /// Blocks of 480 frames in a second.
    private let blocksPerSecond: Float
    private var noise: Float = 1
    /// The smoothed level of speech in decibels; nil before speech.
    private var speech: Float?
    private var speechCount: Float = 0
    /// The number of blocks for which `tooLoud` is still reported.
    private var loudCount: Float = 0
    /// The number of clipped samples in about the last second.
    private var cutCount: Float = 0

    private static var loudest: Float { -9 }
    private static var quietest: Float { -42 }

    init(rate: Int) { blocksPerSecond = Float(rate) / Float(EchoCanceller.blockLength) }

    mutating func record(_ block: Span<Float>) {
        let power = meanSquare(of: block)
        var cut: Float = 0
        for index in block.indices where abs(block[index]) >= 0.985 { cut += 1 }
        cutCount += cut - cutCount / blocksPerSecond
        noise = power < noise ? 0.7 * noise + 0.3 * power : min(noise * 1.005 + 1e-12, 1)
        if power > 8 * noise, power > 1e-7 {
            let level = 10 * log10f(power)
            speech = speech.map { $0 + (level - $0) / (level > $0 ? 10 : 40) } ?? level
            speechCount = min(speechCount + 1, 10 * blocksPerSecond)
        }
        loudCount = cutCount > 20 || (speech ?? -30) > Self.loudest ? 2 * blocksPerSecond : max(0, loudCount - 1)
        let isKnown = speechCount > blocksPerSecond
        if loudCount > 0, isKnown || cutCount > 20 {
            advice = .tooLoud
        } else if isKnown, let speech, speech < Self.quietest {
            advice = .tooQuiet
        } else {
            advice = nil
        }
    }
}
