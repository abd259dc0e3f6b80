/// Which neural models libopus uses for decoding: the values of `OPUS_SET_COMPLEXITY` that make a difference in libopus 1.5.
/// An older library, and one that was built without the models, does the same with all of them.
public enum DecoderComplexity: Hashable, Comparable, BitwiseCopyable, Sendable, CaseIterable {
    /// No model, as in libopus 1.4.
    case plain
    /// A neural network makes up lost frames (deep PLC).
    case plc
    /// Deep PLC; and LACE enhances speech that came in wideband SILK frames of 20 ms.
    case lace
    /// Deep PLC; and NoLACE enhances such speech, which takes twice the time. With libopus 1.5.2 it scores more than LACE (PESQ)
    /// where lost frames are recovered from in-band FEC, and no more elsewhere.
    case noLACE

    /// For `OPUS_SET_COMPLEXITY`.
    var setting: Int32 {
        @_noAllocation @_noLocks get {
            switch self {
            case .plain: 0
            case .plc: 5
            case .lace: 6
            case .noLACE: 7
            }
        }
    }

    @_noAllocation @_noLocks
    public static func < (one: Self, other: Self) -> Bool { one.setting < other.setting }

    @_noAllocation @_noLocks
    public static func == (one: Self, other: Self) -> Bool { one.setting == other.setting }
}
