public import TenfourAudioCore

/// Tells speech from a pause, by the level: speech is 6 dB above the background noise for 5 ms, and lasts 400 ms
/// longer.
///
/// The noise estimate falls at once and rises by 1.5 dB in a second, so it follows a fan that is switched on, but not a
/// long sentence. Use it on one thread at a time. Allocates nothing.
public struct SpeechActivity: BitwiseCopyable, Sendable {
    /// Whether somebody talks, or talked less than 400 ms ago.
    public private(set) var isActive = true

    private let partLength: Int
    private let framesPerHang: Int
    private var noise: Float = 1
    private var sinceSpeech = 0

    /// What is quieter is never speech: −75 dBFS.
    private static var silence: Float { 3e-8 }
    /// The rise of the noise estimate in 5 ms.
    private static var rise: Float { 1.001_73 }

    /// `format` is that of the audio.
    public init(format: LPCMFormat) {
        partLength = max(1, FrameCount(.milliseconds(5), at: format.rate).rawValue * format.channelCount)
        framesPerHang = FrameCount(.milliseconds(400), at: format.rate).rawValue * format.channelCount
    }

    /// Inserts the next audio (interleaved).
    ///
    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    public mutating func insert(_ samples: Span<Float>) {
        var start = 0
        while start < samples.count {
            let end = min(start + partLength, samples.count)
            let power = meanSquare(of: samples.extracting(start..<end))
            noise = power < noise ? 0.5 * (noise + power) : min(noise * Self.rise, 1)
            sinceSpeech = power > 4 * noise && power > Self.silence ? 0 : min(sinceSpeech + end - start, framesPerHang)
            start = end
        }
        isActive = sinceSpeech < framesPerHang
    }
}
