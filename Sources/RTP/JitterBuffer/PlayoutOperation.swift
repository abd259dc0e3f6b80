public import TenfourAudioCore

/// What the next sound of a lane is to be made of. The lane decides; whoever owns a decoder performs.
public enum PlayoutOperation: BitwiseCopyable, Sendable {
    /// Nobody talks. Never more than was asked for.
    case silence(FrameCount)
    /// Decode this packet, and leave out its first `skipping` frames: they were concealed while it was late.
    case decode(PacketQueue.Entry, skipping: FrameCount)
    /// Bring back the sound before this packet from the in-band FEC it carries.
    case recover(FrameCount, from: PacketQueue.Entry)
    /// Make up sound from what was heard before. A multiple of 2.5 ms.
    case conceal(FrameCount)
}

/// What became of a packet on its arrival.
public enum Arrival: Equatable, BitwiseCopyable, Sendable {
    case queued
    /// All of its sound was due already; so much of it, at least, was concealed.
    case late(by: FrameCount)
    /// All of its sound was due while the card stood still.
    case skipped
    case duplicate
    /// A copy or resend of what is here or has been heard.
    case spare
    /// It does not fit the time of the packets before it. When the next one agrees with it, playout begins anew.
    case strange
    /// Playout begins anew with this packet: the talker's numbers jumped.
    case resynchronised
    /// Too long, or too far ahead to be kept.
    case refused
}
