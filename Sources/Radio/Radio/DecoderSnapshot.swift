internal import TenfourOpusCodec

/// The decoder's library and its neural models.
public struct DecoderSnapshot: Hashable, Sendable {
    /// The name and version of the library, such as `libopus 1.5.2`.
    public var library: String
    /// The neural models in use now: `plain`, `plc` or `full`.
    public var models: DecoderChoice
    /// The number of times that a neural model was suspended because it was too slow.
    public var setbackCount: Int

    /// Creates a snapshot for a simulated clock: the neural models in `choice` that the loaded library has.
    public init(simulating choice: DecoderChoice) { self.init(DecoderBudget(DecoderConfiguration(choice))) }

    init(_ budget: DecoderBudget) {
        library = OpusDecoder.library
        models = DecoderChoice(budget.complexity)
        setbackCount = budget.setbackCount
    }
}
