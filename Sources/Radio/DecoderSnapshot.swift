internal import OpusCodec

/// What decodes what is heard.
public struct DecoderSnapshot: Hashable, Sendable {
    /// By name and version, such as `libopus 1.5.2`.
    public var library: String
    /// The neural models that are used at this time: `plain`, `plc` or `full`.
    public var models: DecoderChoice
    /// How often a model was given up for a while because it took too long.
    public var setbackCount: Int

    init(_ budget: DecoderBudget) {
        library = OpusDecoder.library
        models = DecoderChoice(budget.complexity)
        setbackCount = budget.setbackCount
    }
}
