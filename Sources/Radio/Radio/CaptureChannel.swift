/// The audio channels of a source that are sent.
public enum CaptureChannel: String, CaseIterable, Hashable, BitwiseCopyable, Sendable {
    /// Only the first channel. A stereo stream contains it on both sides.
    case left
    /// Only the second channel, if there is one. A stereo stream contains it on both sides.
    case right
    /// All channels. A mono stream contains their mean, a stereo stream the first two.
    case mix
}

/// Detects a stereo source with digital silence in one channel and audio in the other, such as a microphone that is
/// connected to one of two inputs.
///
/// Use it on the capture thread only. Allocates nothing.
struct SilentChannelDetector: BitwiseCopyable, Sendable {
    /// The silent channel; nil if neither channel or both channels are silent.
    private(set) var silentChannel: CaptureChannel?

    /// The number of frames since the left channel last contained a sample other than zero. Frames with silence in both
    /// channels do not count.
    private var sinceLeft = 0
    /// The number of frames since the right channel last contained a sample other than zero. Frames with silence in
    /// both channels do not count.
    private var sinceRight = 0
    /// The number of frames after which a channel counts as silent.
    private let patience: Int

    /// `rate` is the sample rate of the source. A channel counts as silent after 2 s.
    init(rate: Int) { patience = 2 * rate }

    /// Counts the next frames. `soundsLeft` and `soundsRight` state whether these frames contain a sample other than
    /// zero in the left and in the right channel.
    @_noAllocation @_noLocks
    mutating func append(_ frames: Int, soundsLeft: Bool, soundsRight: Bool) {
        // Skips frames with silence in both channels. They reveal no defect, because the microphone may be switched
        // off.
        guard soundsLeft || soundsRight else { return }
        sinceLeft = soundsLeft ? 0 : sinceLeft + frames
        sinceRight = soundsRight ? 0 : sinceRight + frames
        silentChannel = sinceLeft >= patience ? .left : sinceRight >= patience ? .right : nil
    }
}
