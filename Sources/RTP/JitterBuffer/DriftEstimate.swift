public import TenfourAudioCore

/// Estimates the drift between the talker's clock and the card's, from the fastest packet of each second.
///
/// The fastest packets waited in no queue, so the slope of a line through their delays is the difference of the clocks.
/// The line is fitted by least squares over up to two minutes; from then on older seconds lose weight. A second that is
/// much farther from the line than usual is ignored. Two such seconds in a row, both late or both early, mean a change
/// of route: the line is moved, and its slope stays. So neither a step of the delay nor a slow change is taken for drift.
///
/// When packets come in bursts, the slope is uncertain at first, so the estimate is reduced. It is half of the slope if
/// the uncertainty equals the usual difference between two clocks (100 ppm), and approaches the slope as the
/// uncertainty falls.
public struct DriftEstimate: Sendable {
    /// The difference by which the talker's clock is slower than the card's, in parts per million. A measured delay
    /// grows at this rate. Values beyond ± 500 are set to ± 500.
    public private(set) var partsPerMillion = 0.0

    private static var blockLength: Int { 48_000 }
    /// The least distance from the line that may be a change of route, in frames: 1 ms. Two clocks move apart by less
    /// in a second.
    private static var routeChange: Double { 144.0 }
    private static var memory: Double { 120.0 }
    /// The time in which a move of the line and a move back count as jitter, in seconds.
    private static var longestJitter: Double { 3.0 }
    /// The square of the usual difference of two clocks. The difference is 100 ppm, or 4.8 frames in a second.
    private static var usualSquare: Double { 4.8 * 4.8 }

    /// The greatest difference of two clocks: 500 parts per million, or 24 frames in a second. A delay that changes faster
    /// shows a change of the route.
    private static var steepest: Double { 24.0 }

    private var blockStart: FrameCount?
    private var least: FrameCount?
    private var line = 0.0
    /// The slope of the line, in frames per second.
    private var slope = 0.0
    /// The mean of the squared distances between the line and the fastest packets of the seconds. Distances are in
    /// frames.
    private var noise = 0.0
    /// The number of seconds over which the line is fitted, at most `memory`.
    private var blocks = 0.0
    /// The distance between the line and the last second's fastest packet, in frames, if it was too large for random
    /// variation; nil if it was not.
    private var outlier: Double?
    /// The distance by which the line was moved in the last seconds, in frames; nil if it was not moved.
    private var move: Double?
    /// The number of seconds since the line was moved.
    private var secondsSinceMove = 0.0

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
            close(least.rawValue, blocks: Double(passed / Self.blockLength))
            blockStart = start + FrameCount(passed / Self.blockLength * Self.blockLength)
            self.least = delay
        } else {
            least = least.map { min($0, delay) } ?? delay
        }
    }

    /// Adds `frames` to all recorded delays, because the clock that measures arrivals was adjusted by this number.
    @_noAllocation @_noLocks
    public mutating func shift(by frames: FrameCount) {
        line += Double(frames.rawValue)
        least = least.map { $0 + frames }
    }

    private mutating func close(_ least: Int, blocks passed: Double) {
        let expected = line + slope * passed
        let error = Double(least) - expected
        // Begins a new line after a pause of more than four seconds, from which only the slope is still valid.
        if blocks == 0 || passed > 4 {
            line = Double(least)
            blocks = max(blocks, 1)
            outlier = nil
            return
        }
        secondsSinceMove += passed
        if secondsSinceMove > Self.longestJitter { move = nil }
        let farthest = max(Self.routeChange * Self.routeChange, 9 * noise)
        guard error * error <= farthest else { return rejectOutlier(error, of: expected, farthest: farthest) }
        if let outlier { countAsNoise(outlier, farthest: farthest) }
        outlier = nil
        blocks = min(blocks + 1, Self.memory)
        line = expected + error * 2 * (2 * blocks - 1) / (blocks * (blocks + 1))
        if blocks > 2 {
            slope = min(max(slope + error * 6 / (blocks * (blocks + 1)) / passed, -Self.steepest), Self.steepest)
            noise += (error * error - noise) / (blocks - 2)
        }
        // Computes the variance of the slope after least squares, to compare it with the variance of usual clock
        // differences.
        let doubt = 12 * noise / (blocks * blocks * blocks)
        let believed = slope * Self.usualSquare / (Self.usualSquare + doubt)
        partsPerMillion = believed / Double(Self.blockLength) * 1e6
    }

    /// Ignores a second that is far from the line, or moves the line if the second before was as far on the same side.
    /// The slope does not change, whether the packets were late or early. If it did, jitter alone would look like drift.
    private mutating func rejectOutlier(_ error: Double, of expected: Double, farthest: Double) {
        // Jitter moves the line there and back again within seconds.
        if let move, move.sign != error.sign, abs(error) > abs(move) / 2 {
            countAsNoise(move, farthest: farthest)
            self.move = nil
        }
        if let outlier, outlier.sign == error.sign {
            line = expected + error
            (move, secondsSinceMove) = (error, 0)
            self.outlier = nil
        } else {
            if let outlier { countAsNoise(outlier, farthest: farthest) }
            line = expected
            outlier = error
        }
    }

    /// Counts a second that was far from the line, and was no change of route.
    private mutating func countAsNoise(_ error: Double, farthest: Double) {
        noise += (min(error * error, 4 * farthest) - noise) / max(blocks, 4)
    }
}
