internal import TenfourOpusCodec

/// The library that decodes what is heard, and how it does so.
public struct DecoderSnapshot: Hashable, Sendable {
    /// The library by name and version, such as `libopus 1.5.2`.
    public var library: String
    /// The neural models that are used at this time: `plain`, `plc` or `full`.
    public var models: DecoderChoice
    /// How often a model was switched off for a while because it was too slow.
    public var setbackCount: Int

    /// On a simulated clock: what the loaded library has of `choice`.
    public init(simulating choice: DecoderChoice) { self.init(DecoderBudget(DecoderConfiguration(choice))) }

    init(_ budget: DecoderBudget) {
        library = OpusDecoder.library
        models = DecoderChoice(budget.complexity)
        setbackCount = budget.setbackCount
    }
}
