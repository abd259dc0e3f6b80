internal import TenfourAudioCore

/// Conceals lost audio at 8 000 Hz by repeating the last pitch period, in the spirit of ITU-T G.711 Appendix I.
///
/// The first 10 ms of concealment are as loud as the audio before. Then the level falls, to silence after 60 ms. The
/// first 4 ms of the next packet are cross-faded with the repetition.
///
/// For the playback thread: after `init` nothing is allocated.
struct PitchRepetition: ~Copyable, Sendable {
    /// The latest output samples, the newest at the end.
    private var history = FixedBuffer<Float>(repeating: 0, count: historyCount)
    /// The pitch period that is repeated.
    private var period = FixedBuffer<Float>(repeating: 0, count: longestPeriod)
    /// The length of the pitch period, in samples.
    private var periodCount = 0
    /// The number of samples concealed since the last packet.
    private var concealedCount = 0

    /// The number of samples in `history`: 440, or 55 ms. They are two windows and the longest pitch period.
    private static var historyCount: Int { window + longestPeriod + 160 }
    /// The shortest pitch period in samples: a voice of 400 Hz.
    private static var shortestPeriod: Int { 20 }
    /// The longest pitch period in samples: a voice of 66 Hz.
    private static var longestPeriod: Int { 120 }
    /// The number of samples in a window: 160, or 20 ms. The last window is compared with earlier audio to find the
    /// pitch period.
    private static var window: Int { 160 }
    private static var steady: Int { 80 }
    private static var fade: Int { 400 }
    private static var fadeIn: Int { 32 }

    init() {}

    @_noAllocation @_noLocks
    mutating func reset() {
        for index in 0..<history.count { history[index] = 0 }
        concealedCount = 0
    }

    /// Fills the first `count` elements of `samples` with the repeated pitch period.
    @_noAllocation @_noLocks
    mutating func conceal(_ count: Int, into samples: inout FixedBuffer<Float>) {
        if concealedCount == 0 { findPeriod() }
        for index in 0..<count {
            samples[index] = next
            concealedCount += 1
        }
        remember(samples, count: count)
    }

    /// Records the first `count` elements of `samples`, which were decoded. If audio was concealed before them, their
    /// beginning is cross-faded with the repetition.
    @_noAllocation @_noLocks
    mutating func join(_ samples: inout FixedBuffer<Float>, count: Int) {
        if concealedCount > 0 {
            for index in 0..<min(Self.fadeIn, count) {
                let weight = Float(index + 1) / Float(Self.fadeIn + 1)
                samples[index] = samples[index] * weight + next * (1 - weight)
                concealedCount += 1
            }
            concealedCount = 0
        }
        remember(samples, count: count)
    }

    /// The next sample of the repetition, with its fade applied.
    private var next: Float {
        let faded = concealedCount - Self.steady
        let gain = faded <= 0 ? 1 : max(1 - Float(faded) / Float(Self.fade), 0)
        return period[concealedCount % periodCount] * gain
    }

    /// Finds the pitch period: the distance at which the last 20 ms are most similar to earlier audio.
    private mutating func findPeriod() {
        let start = history.count - Self.window
        var best = (period: Self.longestPeriod, likeness: -Float.infinity)
        for lag in Self.shortestPeriod...Self.longestPeriod {
            var (product, energy): (Float, Float) = (0, 1e-9)
            for index in start..<history.count {
                product += history[index] * history[index - lag]
                energy += history[index - lag] * history[index - lag]
            }
            let likeness = product * abs(product) / energy
            if likeness > best.likeness { best = (lag, likeness) }
        }
        periodCount = best.period
        // Cross-fades the end of the period with the audio before its beginning, so that consecutive repetitions join
        // without a click.
        let (end, overlap) = (history.count, periodCount / 4)
        for index in 0..<periodCount {
            let sample = history[end - periodCount + index]
            let step = index - (periodCount - overlap)
            let weight = step < 0 ? 0 : Float(step + 1) / Float(overlap + 1)
            period[index] = sample * (1 - weight) + history[end - 2 * periodCount + index] * weight
        }
    }

    private mutating func remember(_ samples: borrowing FixedBuffer<Float>, count: Int) {
        let kept = max(history.count - count, 0)
        for index in 0..<kept { history[index] = history[history.count - kept + index] }
        for index in kept..<history.count { history[index] = samples[count - history.count + index] }
    }
}
