internal import TenfourAudioCore
package import TenfourOpusCodec

/// How much time the decoders of a listener may take in one pull, all voices together, and how long they took.
///
/// A frame uses a model if three quarters of the slack are enough even when it takes four times as long as expected. Otherwise it
/// does without. A frame that takes so long that the model would never be used again ends the use of that model for a while:
/// 10 s at first, then twice as long each time, up to 5 minutes.
///
/// Playback thread. Times are of its processor time, in nanoseconds.
package struct DecoderBudget: BitwiseCopyable, Sendable {
    /// The highest complexity that is in use now.
    package private(set) var complexity: DecoderComplexity
    /// How often a model was switched off because it was too slow.
    package private(set) var setbackCount = 0

    private let most: DecoderComplexity
    /// How late a pull may be; nil where no time is measured.
    private let slack: Int?
    /// What a frame is expected to take. A slower one is believed at once, and forgotten over some 250 pulls.
    private var expected: Costs
    /// What the trial measured.
    private let measured: Costs
    /// When this pull began.
    private var start = 0
    /// Frames until the model is tried again, and how many they were after the last setback.
    private var rest = 0
    private var lastRest = 0

    package init(_ configuration: DecoderConfiguration) {
        complexity = configuration.complexity
        most = configuration.complexity
        slack = configuration.slack.map { Int($0 / .nanoseconds(1)) }
        measured = Costs(
            concealed: Int(configuration.costs.concealed / .nanoseconds(1)),
            decoded: Int(configuration.costs.decoded / .nanoseconds(1)))
        expected = measured
    }

    /// Of one frame: one that is lost, and one that is enhanced.
    private struct Costs: BitwiseCopyable, Sendable {
        var concealed: Int
        var decoded: Int
    }

    /// Whether lost frames are made up by a model at this time.
    var concealsByModel: Bool { @_noAllocation @_noLocks get { .plain < complexity } }

    /// Whether calls are to be measured.
    var measures: Bool { @_noAllocation @_noLocks get { slack != nil && .plain < most } }

    /// A pull of so many frames at 48 000 Hz begins.
    @_noAllocation @_noLocks
    mutating func begin(_ frames: FrameCount, at now: Int) {
        start = now
        expected.concealed -= (expected.concealed - measured.concealed) / 256
        expected.decoded -= (expected.decoded - measured.decoded) / 256
        guard rest > 0 else { return }
        rest -= frames.rawValue
        guard rest <= 0 else { return }
        // Something else may have made it slow.
        complexity = most
        expected = measured
    }

    /// The complexity for a frame that is lost.
    @_noAllocation @_noLocks
    func complexityToConceal(at now: Int) -> DecoderComplexity {
        hasTime(for: expected.concealed, at: now) ? complexity : .plain
    }

    /// The complexity for a frame that came.
    @_noAllocation @_noLocks
    func complexityToDecode(at now: Int) -> DecoderComplexity {
        .plc < complexity && !hasTime(for: expected.decoded, at: now) ? .plc : complexity
    }

    @_noAllocation @_noLocks
    private func hasTime(for expected: Int, at now: Int) -> Bool {
        guard let slack else { return true }
        return now - start + 4 * expected <= slack / 4 * 3
    }

    /// A frame was concealed or decoded with `used`, and took `time`.
    @_noAllocation @_noLocks
    mutating func spend(_ time: Int, with used: DecoderComplexity, isConcealed: Bool) {
        guard let slack, .plain < used else { return }
        if isConcealed {
            expected.concealed = max(expected.concealed, time)
        } else if .plc < used {
            expected.decoded = max(expected.decoded, time)
        }
        guard 4 * time > slack / 4 * 3 else { return }
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
