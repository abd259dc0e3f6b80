/// How much of its neural models libopus uses for decoding: the values of `OPUS_SET_COMPLEXITY` that make a difference
/// (libopus 1.5). Before that version, and where it was built without the models, all are alike.
public enum DecoderComplexity: Hashable, Comparable, BitwiseCopyable, Sendable, CaseIterable {
    /// None, as in libopus 1.4.
    case plain
    /// Lost frames are made up by a neural network (deep PLC).
    case plc
    /// Deep PLC; and speech that came in wideband SILK frames of 20 ms is enhanced by LACE.
    case lace
    /// Deep PLC; and such speech is enhanced by NoLACE, which takes twice the time. With libopus 1.5.2 it scores more than LACE
    /// (PESQ) where what was lost is recovered from in-band FEC, and no more elsewhere.
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
