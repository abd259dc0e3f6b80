/// The levels of the last 3.2 s in steps of 100 ms. The value is small enough to be copied by an audio thread.
///
/// A copy contains the last 32 steps and the number of steps so far, so a reader that polls every three seconds misses
/// no step.
public struct LevelHistory: BitwiseCopyable, Sendable {
    /// The number of steps completed since the start.
    public private(set) var count = 0

    private var steps = InlineArray<32, Step>(repeating: Step())
    private var open = Step()
    private var openFrameCount = 0
    private var openConcealed = 0
    private var frameCount: Int

    /// The level of the audio in one step.
    public struct Step: Hashable, BitwiseCopyable, Sendable {
        /// The mean square of all samples, with full scale at ±1.
        public var meanSquare: Float = 0
        /// The largest magnitude of a sample, with full scale at 1.
        public var peak: Float = 0
        /// The proportion of concealed samples, 0…1.
        public var concealedShare: Float = 0

        @_noAllocation @_noLocks
        public init() {}
    }

    /// The duration of a step.
    public static let step = Duration.milliseconds(100)

    public init(rate: SampleRate = .opus) { frameCount = max(rate.hertz / 10, 1) }

    /// Audio thread. Appends interleaved samples, of which `concealed` frames were concealed. A step ends with the
    /// first call that completes 100 ms.
    @_noAllocation @_noLocks
    public mutating func append(_ samples: Span<Float>, frameCount count: Int, concealed: Int = 0) {
        var peak = open.peak
        for index in samples.indices { peak = max(peak, samples[index].magnitude) }
        append(
            meanSquare: TenfourAudioCore.meanSquare(of: samples), peak: peak, frameCount: count, concealed: concealed)
    }

    @_noAllocation @_noLocks
    private mutating func append(meanSquare: Float, peak: Float, frameCount added: Int, concealed: Int) {
        guard added > 0 else { return }
        let whole = openFrameCount + added
        open.meanSquare += (meanSquare - open.meanSquare) * Float(added) / Float(whole)
        open.peak = max(open.peak, peak)
        openConcealed += concealed
        openFrameCount = whole
        guard whole >= frameCount else { return }
        open.concealedShare = min(Float(openConcealed) / Float(whole), 1)
        steps[count % 32] = open
        count += 1
        // Counts the concealed frames beyond this step in the following steps.
        openConcealed = max(openConcealed - whole, 0)
        openFrameCount = 0
        open = Step()
    }

    /// Returns the steps that follow the first `known` steps of the history; of these, at most the last 32.
    public func steps(after known: Int) -> [Step] {
        (max(known, count - 32)..<max(known, count)).map { steps[$0 % 32] }
    }
}
