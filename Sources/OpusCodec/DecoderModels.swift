/// What the libopus that is loaded does with its neural models, found by trial.
///
/// The header that we were built with tells nothing of the library that we run with, and a library that was built without the
/// models takes the same settings and gives the same samples as before.
public struct DecoderModels: Hashable, Sendable {
    /// Lost frames are made up by a neural network where the complexity is `.plc` or more.
    public var conceal: Bool
    /// Speech is enhanced where the complexity is `.lace` or `.noLACE`.
    public var enhance: Bool

    public init(conceal: Bool = false, enhance: Bool = false) {
        self.conceal = conceal
        self.enhance = enhance
    }

    /// The most that makes a difference.
    public var complexity: DecoderComplexity { enhance ? .noLACE : conceal ? .plc : .plain }

    /// Of the library that is loaded: tried once, in about 20 ms.
    public static let loaded = (try? DecoderTrial(measuresCosts: false).models) ?? DecoderModels()
}
