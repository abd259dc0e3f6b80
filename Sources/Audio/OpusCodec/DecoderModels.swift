/// The neural models of the loaded libopus, as found by a trial (`DecoderTrial`).
///
/// A trial is necessary: the header used for the build does not describe the library loaded at run time, and a library
/// built without the models accepts the same settings.
public struct DecoderModels: Hashable, Sendable {
    /// Whether a neural network conceals lost frames at complexity `.plc` and higher.
    public var conceal: Bool
    /// Whether speech is enhanced at complexity `.lace` and `.noLACE`.
    public var enhance: Bool

    public init(conceal: Bool = false, enhance: Bool = false) {
        self.conceal = conceal
        self.enhance = enhance
    }

    /// The highest complexity that makes a difference.
    public var complexity: DecoderComplexity { enhance ? .noLACE : conceal ? .plc : .plain }

    /// The models of the loaded library, found by one trial, which takes about 20 ms.
    public static let loaded = (try? DecoderTrial(measuresCosts: false).models) ?? DecoderModels()
}
