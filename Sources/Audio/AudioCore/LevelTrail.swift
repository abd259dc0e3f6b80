/// How loud sound has been of late, a tenth of a second at a time: small enough to be handed from an audio thread by value.
///
/// A copy holds the last 32 tenths, and how many there have been: who looks every three seconds misses none.
public struct LevelTrail: BitwiseCopyable, Sendable {
    /// How many have been completed since the start.
    public private(set) var count = 0

    private var steps = InlineArray<32, Step>(repeating: Step())
    private var open = Step()
    private var openFrameCount = 0
    private var openConcealed = 0
    private var frameCount: Int

    /// A tenth of a second.
    public struct Step: Hashable, BitwiseCopyable, Sendable {
        /// Of all samples in it, and of the loudest; full scale at 1.
        public var meanSquare: Float = 0
        public var peak: Float = 0
        /// How much of it was made up: 0…1.
        public var concealedShare: Float = 0

        @_noAllocation @_noLocks
        public init() {}
    }

    /// What a step lasts.
    public static let step = Duration.milliseconds(100)

    public init(rate: SampleRate = .opus) { frameCount = max(rate.hertz / 10, 1) }

    /// Audio thread. Takes what comes next, interleaved; `concealed` of it was made up. A step ends where a piece does.
    @_noAllocation @_noLocks
    public mutating func append(_ samples: Span<Float>, frameCount count: Int, concealed: Int = 0) {
        var peak = open.peak
        for index in samples.indices { peak = max(peak, samples[index].magnitude) }
        append(meanSquare: TenfourAudioCore.meanSquare(of: samples), peak: peak, frameCount: count, concealed: concealed)
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
        // What was made up at once may last into the steps that follow.
        openConcealed = max(openConcealed - whole, 0)
        openFrameCount = 0
        open = Step()
    }

    /// Those behind the first `known`, as far as they are kept.
    public func steps(after known: Int) -> [Step] {
        (max(known, count - 32)..<max(known, count)).map { steps[$0 % 32] }
    }
}
