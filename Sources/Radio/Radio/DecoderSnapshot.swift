internal import TenfourOpusCodec

/// The library that decodes, and its models.
public struct DecoderSnapshot: Hashable, Sendable {
    /// The name and version of the library, such as `libopus 1.5.2`.
    public var library: String
    /// The neural models in use now: `plain`, `plc` or `full`.
    public var models: DecoderChoice
    /// How often a model was suspended because it was too slow.
    public var setbackCount: Int

    /// For a simulated clock: the models in `choice` that the loaded library has.
    public init(simulating choice: DecoderChoice) { self.init(DecoderBudget(DecoderConfiguration(choice))) }

    init(_ budget: DecoderBudget) {
        library = OpusDecoder.library
        models = DecoderChoice(budget.complexity)
        setbackCount = budget.setbackCount
    }
}
