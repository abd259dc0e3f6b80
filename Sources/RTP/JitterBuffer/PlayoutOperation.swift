internal import TenfourAudioCore

/// The operation that makes the next piece of audio. `PlayoutController` decides, `JitterBuffer` executes it.
enum PlayoutOperation: BitwiseCopyable, Sendable {
    /// Play silence, because nobody talks. At most the requested number of frames.
    case silence(FrameCount)
    /// Decode this packet and leave out its first `skipping` frames, which were concealed while it was late.
    case decode(PacketQueue.Entry, skipping: FrameCount)
    /// Decode the audio before this packet from the in-band FEC that the packet carries.
    case recover(FrameCount, from: PacketQueue.Entry)
    /// Conceal by continuing the audio decoded before. A multiple of 2.5 ms.
    case conceal(FrameCount)
}
