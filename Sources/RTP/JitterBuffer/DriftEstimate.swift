public import TenfourAudioCore

/// Estimates the drift between the talker's clock and the card's, from the fastest packet of each second.
///
/// The fastest packets waited in no queue, so the slope of a line through their delays is the difference of the clocks.
/// A second that is much farther from the line than usual is ignored. Two such seconds in a row, both late or both early,
/// mean a change of route: a new line begins. All lines have one slope, which is fitted by least squares over about two
/// minutes. So neither a step of the delay nor a slow change is taken for drift. A second that is followed by a change
/// of route may belong to the change, and is left out.
///
/// When packets come in bursts, the slope is uncertain at first, so the estimate is reduced. It is half of the slope if
/// the uncertainty equals the usual difference between two clocks (100 ppm), and approaches the slope as the
/// uncertainty falls.
public struct DriftEstimate: Sendable {
    /// The difference by which the talker's clock is slower than the card's, in parts per million. A measured delay
    /// grows at this rate. Values beyond ± 500 are set to ± 500.
    public private(set) var partsPerMillion = 0.0

    /// The part of a usual difference of two clocks by which the estimate is reduced, because the slope is uncertain, in
    /// frames per second: 4.8 (100 ppm) before anything is known.
    private(set) var reduction = DriftEstimate.usual

    private static var blockLength: Int { 48_000 }
    /// The least distance from the line that may be a change of route, in frames: 3 ms. Two clocks move apart by less
    /// in a second.
    private static var routeChange: Double { 144.0 }
    /// The number of seconds over which the slope is fitted. Older seconds lose weight.
    private static var memory: Double { 120.0 }
    /// The number of seconds over which the noise is averaged.
    private static var noiseMemory: Double { 30.0 }
    /// The usual difference of two clocks: 100 ppm, or 4.8 frames in a second.
    private static var usual: Double { 4.8 }
    /// The greatest difference of two clocks: 500 parts per million, or 24 frames in a second. A delay that changes faster
    /// shows a change of the route.
    private static var steepest: Double { 24.0 }
    /// The longest time without a packet, in seconds, after which the line goes on.
    private static var longestPause: Double { 4.0 }

    private var blockStart: FrameCount?
    private var least: FrameCount?
    /// The seconds since the last change of route, without the first and the newest.
    private var line = Line()
    /// The slope of all lines, in frames per second.
    private var slope = 0.0
    /// The sum of the squared times of the seconds, each from the mean of its line.
    private var timeSquares = 0.0
    /// The sum of the products of these times and the delays.
    private var timeDelays = 0.0
    /// The newest second that is no outlier. It becomes a part of the line when the next one shows no change of route.
    private var newest: Second?
    /// The distance between the line and the last second's fastest packet, in frames, if it was too large for random
    /// variation; nil if it was not.
    private var outlier: Double?
    /// The mean of the squared distances between the line and the fastest packets of the seconds. Distances are in
    /// frames.
    private var noise = 0.0
    /// The number of distances of which `noise` is the mean, at most `noiseMemory`.
    private var noiseCount = 0.0

    /// The fastest packet of a second, or the mean of several seconds.
    private struct Second {
        /// The time that has passed since, in seconds.
        var age = 0.0
        /// The delay, in frames.
        var delay: Double
        /// The square of the distance between the line and `delay`; nil for the first second of a line.
        var error: Double?
    }

    private struct Line {
        /// The number of seconds in the line, at most `memory`.
        var count = 0.0
        var mean = Second(delay: 0)
    }

    @_noAllocation @_noLocks
    public init() {}

    /// Inserts a packet that arrived at `arrival`, `delay` after its timestamp, both by the card's clock.
    @_noAllocation @_noLocks
    public mutating func insert(_ delay: FrameCount, at arrival: FrameCount) {
        guard let start = blockStart else {
            blockStart = arrival
            least = delay
            return
        }
        let passed = (arrival - start).rawValue
        if passed >= Self.blockLength, let least {
            close(Double(least.rawValue), blocks: Double(passed / Self.blockLength))
            blockStart = start + FrameCount(passed / Self.blockLength * Self.blockLength)
            self.least = delay
        } else {
            least = least.map { min($0, delay) } ?? delay
        }
    }

    /// Adds `frames` to all recorded delays, because the clock that measures arrivals was adjusted by this number.
    @_noAllocation @_noLocks
    public mutating func shift(by frames: FrameCount) {
        line.mean.delay += Double(frames.rawValue)
        newest?.delay += Double(frames.rawValue)
        least = least.map { $0 + frames }
    }

    private mutating func close(_ least: Double, blocks passed: Double) {
        line.mean.age += passed
        newest?.age += passed
        // After a pause `least` is a delay from before it. The next second begins a line.
        guard passed <= Self.longestPause else { return beginLine(nil) }
        guard let expected else { return beginLine(least) }
        let error = least - expected
        let farthest = max(Self.routeChange * Self.routeChange, 9 * noise)
        let isOutlier = error * error > farthest
        if let outlier {
            if isOutlier, outlier.sign == error.sign { return beginLine(least) }
            countOutlier(farthest)
        }
        outlier = isOutlier ? error : nil
        if isOutlier { return }
        if let newest, let error = newest.error {
            append(newest)
            countAsNoise(error)
        }
        newest = Second(delay: least, error: error * error)
        guard timeSquares > 0 else { return }
        slope = min(max(timeDelays / timeSquares, -Self.steepest), Self.steepest)
        // Compares the variance of the slope after least squares with the variance of usual clock differences.
        let doubt = noise / timeSquares
        let usualSquare = Self.usual * Self.usual
        let believed = slope * usualSquare / (usualSquare + doubt)
        reduction = Self.usual * (1 - usualSquare / (usualSquare + doubt))
        partsPerMillion = believed / Double(Self.blockLength) * 1e6
    }

    /// The delay that the line predicts for this second; nil if there is none.
    private var expected: Double? {
        if line.count > 0 { return line.mean.delay + slope * line.mean.age }
        return newest.map { $0.delay + slope * $0.age }
    }

    private mutating func beginLine(_ least: Double?) {
        line = Line()
        newest = least.map { Second(delay: $0) }
        outlier = nil
    }

    /// Adds a second to the line, and to the sums of all lines.
    private mutating func append(_ second: Second) {
        let time = line.mean.age - second.age
        let delay = second.delay - line.mean.delay
        let part = line.count / (line.count + 1)
        let kept = 1 - 1 / Self.memory
        timeSquares = timeSquares * kept + part * time * time
        timeDelays = timeDelays * kept + part * time * delay
        line.mean.age -= time * (1 - part)
        line.mean.delay += delay * (1 - part)
        line.count = min(line.count + 1, Self.memory)
    }

    /// Counts an outlier that was no change of route, as the square of the distance from which on a second is one. A single
    /// outlier among few seconds must not make the noise so large that the next change is no outlier.
    private mutating func countOutlier(_ farthest: Double) {
        noise += (farthest - noise) / max(noiseCount, 10)
    }

    private mutating func countAsNoise(_ square: Double) {
        noiseCount = min(noiseCount + 1, Self.noiseMemory)
        noise += (square - noise) / noiseCount
    }
}
