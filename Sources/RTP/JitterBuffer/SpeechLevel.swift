/// Finds the packets of a talker that contain loud speech. The codec's bit rate is measured from their size, because
/// pauses need fewer bits.
struct SpeechLevel: BitwiseCopyable, Sendable {
    /// The mean square of the loudest packet so far. It decays slowly.
    private var loudest: Float = 0

    /// The minimum mean square of a loud packet, as a proportion of `loudest`: −15 dB.
    private static var loudShare: Float { 0.03 }
    /// The minimum mean square of a loud packet, if `loudest` is low: −45 dBFS.
    private static var quietest: Float { 3e-5 }
    /// The number by which `loudest` is multiplied for each packet. It halves `loudest` in about ten minutes.
    private static var fading: Float { 0.999_98 }

    @_noAllocation @_noLocks
    init() {}

    /// Records the next packet of the talker by the mean square of its audio. Returns whether it contains loud speech.
    @_noAllocation @_noLocks
    mutating func isLoudSpeech(_ meanSquare: Float) -> Bool {
        loudest = max(meanSquare, loudest * Self.fading)
        return meanSquare >= max(loudest * Self.loudShare, Self.quietest)
    }
}
