/// How an Opus decoder conceals lost packets.
public enum PacketLossConcealment: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// It repeats pitch periods and fades out, in all versions of libopus.
    case plain
    /// A neural network generates the audio: deep PLC (libopus 1.5).
    case deep
}
