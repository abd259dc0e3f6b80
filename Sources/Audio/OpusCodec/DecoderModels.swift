/// Which neural models the loaded libopus has. A trial finds out.
///
/// The header of the build says nothing about the library at run time, and a library that was built without the models
/// accepts the same settings.
public struct DecoderModels: Hashable, Sendable {
    /// A neural network makes up lost frames from complexity `.plc` on.
    public var conceal: Bool
    /// Speech is enhanced at complexity `.lace` and `.noLACE`.
    public var enhance: Bool

    public init(conceal: Bool = false, enhance: Bool = false) {
        self.conceal = conceal
        self.enhance = enhance
    }

    /// The highest complexity that makes a difference.
    public var complexity: DecoderComplexity { enhance ? .noLACE : conceal ? .plc : .plain }

    /// The models of the loaded library, tried once, in about 20 ms.
    public static let loaded = (try? DecoderTrial(measuresCosts: false).models) ?? DecoderModels()
}
