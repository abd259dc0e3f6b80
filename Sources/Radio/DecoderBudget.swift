package import OpusCodec
internal import Sound

/// How much time the decoders of a listener may take, all voices together, and what they are found to take.
///
/// In one pull concealment takes half of the slack at the most: what is lost beyond that is concealed without a model. A frame
/// that takes more than a quarter of the slack ends the use of its model, for 10 s at first and twice as long each time.
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
    /// Of this pull.
    private var left = 0
    /// Frames until what was given up is tried again, and how long that was the last time.
    private var rest = 0
    private var lastRest = 0

    package init(_ configuration: DecoderConfiguration) {
        complexity = configuration.complexity
        most = configuration.complexity
        slack = configuration.slack.map { Int($0 / .nanoseconds(1)) }
        concealing = Int(configuration.costs.concealed / .nanoseconds(1))
        left = (slack ?? 0) / 2
    }

    /// Whether lost frames are made up by a model at this time.
    var concealsByModel: Bool { @_noAllocation @_noLocks get { .plain < complexity } }

    /// Whether calls are to be measured.
    var measures: Bool { @_noAllocation @_noLocks get { slack != nil && .plain < most } }

    /// A pull of so many frames at 48 000 Hz begins.
    @_noAllocation @_noLocks
    mutating func begin(_ frames: FrameCount) {
        guard let slack else { return }
        left = slack / 2
        guard rest > 0 else { return }
        rest -= frames.rawValue
        // What was too slow once may have been held up by something else.
        if rest <= 0 { complexity = most }
    }

    /// With what the next frame is concealed; takes its cost from what is left of the pull.
    @_noAllocation @_noLocks
    mutating func complexityToConceal() -> DecoderComplexity {
        guard concealsByModel else { return .plain }
        guard slack != nil else { return complexity }
        guard concealing <= left else { return .plain }
        left -= concealing
        return complexity
    }

    /// A frame was concealed or decoded with `used`, and took `time`.
    @_noAllocation @_noLocks
    mutating func spend(_ time: Int, with used: DecoderComplexity, isConcealed: Bool) {
        guard let slack, .plain < used else { return }
        if isConcealed {
            // Slower is believed at once.
            concealing = time > concealing ? time : concealing - (concealing - time) / 64
        } else {
            left -= time
        }
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
