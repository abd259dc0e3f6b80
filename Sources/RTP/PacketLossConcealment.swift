/// With what an Opus decoder makes up sound that is lost.
public enum PacketLossConcealment: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// By repeating pitch periods and fading, as libopus has always done.
    case plain
    /// By a neural network: deep PLC (libopus 1.5).
    case deep
}
