/// The width of the samples that a lossless codec stores.
public enum SampleWidth: Hashable, Sendable {
    case integer(bitCount: Int)
    /// 32 or 64 bits.
    case floatingPoint
}
