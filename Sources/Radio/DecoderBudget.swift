package import OpusCodec
internal import Sound

/// How much time the decoders of a listener may take, all voices together, and what they are found to take.
///
/// A lost frame gets a model where that may take four times as long as expected and three quarters of the slack are not over then:
/// what is lost beyond that is concealed without one. A frame that takes more than a quarter of the slack ends the use of its
/// model, for 10 s at first and twice as long each time.
///
/// Playback thread. Times are of its processor time, in nanoseconds.
package struct DecoderBudget: BitwiseCopyable, Sendable {
    /// The most that is used at this time.
    package private(set) var complexity: DecoderComplexity
    /// How often a model was given up because it took too long.
    package private(set) var setbackCount = 0

    private let most: DecoderComplexity
    /// Nil where no time is measured.
    private let slack: Int?
    /// What a concealed frame is expected to take.
    private var concealing: Int
    /// When this pull began.
    private var start = 0
    /// Frames until what was given up is tried again, and how long that was the last time.
    private var rest = 0
    private var lastRest = 0

    package init(_ configuration: DecoderConfiguration) {
        complexity = configuration.complexity
        most = configuration.complexity
        slack = configuration.slack.map { Int($0 / .nanoseconds(1)) }
        concealing = Int(configuration.costs.concealed / .nanoseconds(1))
    }

    /// Whether lost frames are made up by a model at this time.
    var concealsByModel: Bool { @_noAllocation @_noLocks get { .plain < complexity } }

    /// Whether calls are to be measured.
    var measures: Bool { @_noAllocation @_noLocks get { slack != nil && .plain < most } }

    /// A pull of so many frames at 48 000 Hz begins.
    @_noAllocation @_noLocks
    mutating func begin(_ frames: FrameCount, at now: Int) {
        start = now
        guard rest > 0 else { return }
        rest -= frames.rawValue
        // What was too slow once may have been held up by something else.
        if rest <= 0 { complexity = most }
    }

    /// With what the next frame is concealed.
    @_noAllocation @_noLocks
    func complexityToConceal(at now: Int) -> DecoderComplexity {
        guard concealsByModel else { return .plain }
        guard let slack else { return complexity }
        return now - start + 4 * concealing <= slack / 4 * 3 ? complexity : .plain
    }

    /// A frame was concealed or decoded with `used`, and took `time`.
    @_noAllocation @_noLocks
    mutating func spend(_ time: Int, with used: DecoderComplexity, isConcealed: Bool) {
        guard let slack, .plain < used else { return }
        // Slower is believed at once.
        if isConcealed { concealing = time > concealing ? time : concealing - (concealing - time) / 64 }
        guard time > slack / 4 else { return }
        setbackCount += 1
        complexity = isConcealed || used < .lace ? .plain : .plc
        lastRest = lastRest == 0 ? Self.shortestRest : lastRest * 2
        if lastRest > Self.longestRest { lastRest = Self.longestRest }
        rest = lastRest
    }

    /// 10 s and 5 min.
    private static var shortestRest: Int { @_noAllocation @_noLocks get { 480_000 } }
    private static var longestRest: Int { @_noAllocation @_noLocks get { 14_400_000 } }
}
