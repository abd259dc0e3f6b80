/// The method by which an Opus decoder conceals lost packets.
public enum PacketLossConcealment: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// Repeats pitch periods and fades out, in all versions of libopus.
    case plain
    /// Generates the audio with a neural network: deep PLC (libopus 1.5).
    case deep
}
