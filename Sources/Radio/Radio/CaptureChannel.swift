/// Which channels of a source are sent.
public enum CaptureChannel: String, CaseIterable, Hashable, BitwiseCopyable, Sendable {
    /// The first alone: in mono, or on both sides.
    case left
    /// The second alone, where there is one.
    case right
    /// All: in mono their mean, in stereo the first two.
    case mix
}

/// Finds a stereo source of which one channel is digital silence while the other is not: a microphone at one of two inputs.
///
/// Capture thread; nothing is allocated.
struct SilentChannelDetector: BitwiseCopyable, Sendable {
    /// The channel that is silent; nil where none is, or both are.
    private(set) var silentChannel: CaptureChannel?

    /// Frames with sound since each channel last held anything but zeros.
    private var sinceLeft = 0
    private var sinceRight = 0
    private let patience: Int

    /// `rate` is the source's. A channel is called silent after 2 s.
    init(rate: Int) { patience = 2 * rate }

    /// Takes in the next frames, of which the left or the right channel held anything but zeros.
    @_noAllocation @_noLocks
    mutating func append(_ frames: Int, soundsLeft: Bool, soundsRight: Bool) {
        // Silence on both sides tells nothing of either: a microphone may be switched off.
        guard soundsLeft || soundsRight else { return }
        sinceLeft = soundsLeft ? 0 : sinceLeft + frames
        sinceRight = soundsRight ? 0 : sinceRight + frames
        silentChannel = sinceLeft >= patience ? .left : sinceRight >= patience ? .right : nil
    }
}
