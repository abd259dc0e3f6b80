public import TenfourAudioCore

/// Measures how much faster the card asks for sound than the talker makes it, from the fastest packet of each second.
///
/// The fastest packets are the ones that queued nowhere, so a line through their delays has the two clocks' difference
/// as its slope. The line is fitted by least squares over a memory that grows to two minutes and then fades. A second that
/// lies far off the line, measured by how far they usually do, is passed over; two that lie off it alike are a change of
/// route, which moves the line without bending it. Packets that come in bursts give a line that is hardly known at first:
/// it is believed in so far as it is better known than what clocks are like anyway.
public struct DriftEstimate: Sendable {
    /// How many parts in a million the talker's clock runs slower than the card's: delays grow by so much.
    /// Within ± 1000.
    public private(set) var partsPerMillion = 0.0

    private static var blockLength: Int { 48_000 }
    private static var routeChange: Double { 480.0 }
    private static var memory: Double { 120.0 }
    /// The square of what two clocks usually differ by: 100 ppm.
    private static var usualSquare: Double { 4.8 * 4.8 }

    private var blockStart: FrameCount?
    private var least: FrameCount?
    private var line = 0.0
    /// Frames a block.
    private var slope = 0.0
    /// The mean square of how far the blocks lie off the line, in frames.
    private var noise = 0.0
    private var blocks = 0.0
    /// How far the last block lay off the line, where that was too far to be noise.
    private var outlier: Double?

    @_noAllocation @_noLocks
    public init() {}

    /// A packet arrived at `arrival`, `delay` after its timestamp, both on the card's clock.
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

    /// All delays, before and from now on, are `frames` longer: the clock that arrivals are told by was set.
    @_noAllocation @_noLocks
    public mutating func shift(by frames: FrameCount) {
        line += Double(frames.rawValue)
        least = least.map { $0 + frames }
    }

    private mutating func close(_ least: Int, blocks passed: Double) {
        let expected = line + slope * passed
        let error = Double(least) - expected
        // After a pause the line may be anywhere: only its slope is still known.
        if blocks == 0 || passed > 4 {
            line = Double(least)
            blocks = max(blocks, 1)
            outlier = nil
            return
        }
        let farthest = max(Self.routeChange * Self.routeChange, 9 * noise)
        guard error * error <= farthest else { return passOver(error, of: expected, farthest: farthest) }
        outlier = nil
        blocks = min(blocks + 1, Self.memory)
        line = expected + error * 2 * (2 * blocks - 1) / (blocks * (blocks + 1))
        if blocks > 2 {
            slope += error * 6 / (blocks * (blocks + 1)) / passed
            noise += (error * error - noise) / (blocks - 2)
        }
        // What least squares leave unknown of a slope, against what was unknown before.
        let doubt = 12 * noise / (blocks * blocks * blocks)
        let believed = slope * Self.usualSquare / (Self.usualSquare + doubt)
        partsPerMillion = min(max(believed / Double(Self.blockLength) * 1e6, -1_000), 1_000)
    }

    /// One-sided: were the late seconds to move the line and the early ones to bend it, jitter alone would be read as drift.
    private mutating func passOver(_ error: Double, of expected: Double, farthest: Double) {
        if let outlier, (error - outlier) * (error - outlier) <= farthest {
            line = expected + error
            self.outlier = nil
        } else {
            line = expected
            outlier = error
            noise += (min(error * error, 4 * farthest) - noise) / max(blocks, 4)
        }
    }
}
