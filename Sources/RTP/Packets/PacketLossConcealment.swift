/// How an Opus decoder makes up lost sound.
public enum PacketLossConcealment: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// It repeats pitch periods and fades out, as libopus has always done.
    case plain
    /// A neural network makes it up: deep PLC (libopus 1.5).
    case deep
}
