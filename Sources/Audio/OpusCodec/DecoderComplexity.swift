/// The neural models that libopus uses for decoding: the values of `OPUS_SET_COMPLEXITY` that make a difference in
/// libopus 1.5. An older library, or one built without the models, decodes the same at every value.
public enum DecoderComplexity: Hashable, Comparable, BitwiseCopyable, Sendable, CaseIterable {
    /// No neural model. libopus before 1.5 always decodes this way.
    case plain
    /// A neural network conceals lost frames (deep PLC).
    case plc
    /// Deep PLC; in addition, LACE enhances speech received in wideband SILK frames of 20 ms.
    case lace
    /// Deep PLC; in addition, NoLACE enhances speech in wideband SILK frames of 20 ms, in twice the time of LACE. With
    /// libopus 1.5.2 NoLACE has a higher PESQ score than LACE only where lost frames are recovered from in-band FEC.
    case noLACE

    /// The value for `OPUS_SET_COMPLEXITY`.
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
