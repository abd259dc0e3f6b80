/// Finds the packets of a talker that contain loud speech. Their size shows the bit rate of the codec; pauses need fewer bits.
struct SpeechLevel: BitwiseCopyable, Sendable {
    /// The mean square of the loudest packet, which decays slowly.
    private var loudest: Float = 0

    /// The level relative to the loudest packet from which on a packet is loud: −15 dB.
    private static var loudShare: Float { 0.03 }
    /// The level below which no packet is loud: −45 dBFS.
    private static var quietest: Float { 3e-5 }
    /// The factor by which `loudest` decays with each packet: to one half after about ten minutes.
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
