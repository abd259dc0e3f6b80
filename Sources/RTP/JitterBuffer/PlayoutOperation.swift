internal import TenfourAudioCore

/// How the next piece of audio is made. `PlayoutController` decides, `JitterBuffer` performs.
enum PlayoutOperation: BitwiseCopyable, Sendable {
    /// Play silence: nobody talks. Never more than was asked for.
    case silence(FrameCount)
    /// Decode this packet and leave out its first `skipping` frames, which were concealed while it was late.
    case decode(PacketQueue.Entry, skipping: FrameCount)
    /// Decode the audio before this packet from the in-band FEC that it carries.
    case recover(FrameCount, from: PacketQueue.Entry)
    /// Continue what was decoded before. A multiple of 2.5 ms.
    case conceal(FrameCount)
}
