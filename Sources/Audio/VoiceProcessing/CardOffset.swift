internal import Glibc

/// Follows the difference between the positions of two cards, whose clocks differ by up to a few hundred parts per
/// million.
///
/// The positions are known by times that jitter. A line is fitted through the means of a quarter of a second each, by
/// least squares over up to two minutes, as `DriftEstimate` does for a talker's clock. `next` approaches the line
/// slowly, because a step of a fraction of a sample would already disturb an echo canceller.
struct CardOffset: Sendable {
    /// The slope of the line in parts per million, as far as it is certain.
    private(set) var driftPartsPerMillion = 0.0

    /// The most that one observation may differ from the line, in frames: 3 ms at 48 000 Hz.
    private static var tolerance: Double { 144 }
    /// The longest memory, in blocks.
    private static var memory: Double { 480 }

    private let rate: Double
    private let blockLength: Int
    /// The square of the usual difference of two clocks, 50 ppm, in frames per block.
    private let usualSquare: Double

    /// The end of the present block, in captured frames; nil before the first observation.
    private var blockEnd: Int?
    private var sum = 0.0
    private var count = 0.0
    private var line = 0.0
    /// Frames per block.
    private var slope = 0.0
    private var noise = 0.0
    private var blocks = 0.0
    /// The number of observations in succession that were far from the line.
    private var outlierCount = 0
    /// The offset of the next frame, and its change with each frame.
    private var present: Double?
    private var step = 0.0

    /// `rate` is the number of captured frames in a second.
    init(rate: Double) {
        self.rate = rate
        blockLength = Int(rate / 4)
        let usual = rate * 50e-6 / 4
        usualSquare = usual * usual
    }

    /// Returns the offset for the next frame, and advances by a frame; nil before the first observation.
    mutating func next() -> Double? {
        guard let offset = present else { return nil }
        present = offset + step
        return offset
    }

    /// Records the offset that was observed at frame `position`. Returns whether the offset has jumped.
    mutating func record(_ observed: Double, at position: Int) -> Bool {
        guard observed.isFinite, abs(observed) < 1e15 else { return false }
        guard let end = blockEnd, let present else {
            begin(observed, at: position)
            return false
        }
        if abs(observed - present) > Self.tolerance {
            outlierCount += 1
            guard outlierCount > 10 else { return false }
            begin(observed, at: position)
            return true
        }
        outlierCount = 0
        sum += observed
        count += 1
        if position >= end {
            let passed = 1 + (position - end) / blockLength
            close(sum / count, blocks: Double(passed))
            blockEnd = end + passed * blockLength
            (sum, count) = (0, 0)
        }
        return false
    }

    /// Begins a new line. What was learnt about the clocks stays.
    private mutating func begin(_ observed: Double, at position: Int) {
        line = observed
        present = observed
        slope = driftPartsPerMillion * rate * 1e-6 / 4
        step = slope / Double(blockLength)
        (sum, count, outlierCount) = (0, 0, 0)
        blocks = 0
        noise = 0
        blockEnd = position + blockLength
    }

    private mutating func close(_ mean: Double, blocks passed: Double) {
        // The mean belongs to the middle of its block, and so does the line.
        if blocks == 0 {
            line = mean
            blocks = 1
        } else {
            let expected = line + slope * passed
            let error = mean - expected
            blocks = min(blocks + 1, Self.memory)
            line = expected + error * 2 * (2 * blocks - 1) / (blocks * (blocks + 1))
            slope += error * 6 / (blocks * (blocks + 1)) / passed
            if blocks > 2 { noise += (error * error - noise) / min(blocks - 2, 40) }
        }
        let doubt = blocks > 2 ? 12 * (noise + 1e-4) / (blocks * blocks * blocks) : usualSquare
        let believed = slope * usualSquare / (usualSquare + doubt)
        let limit = rate * 1e-3 / 4
        let drift = max(-limit, min(believed, limit))
        driftPartsPerMillion = drift * 4 / rate * 1e6
        // Reaches the line the more slowly, the longer it is known. The line is known for the middle of the last block.
        let error = line + 0.5 * drift - (present ?? line)
        let patience = blocks < 4 ? 1 : min(blocks, 120)
        step = (drift + error / patience) / Double(blockLength)
    }
}
