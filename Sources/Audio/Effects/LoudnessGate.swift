internal import TenfourAudioCore

/// The gates of BS.1770: it collects blocks of 400 ms, and has the mean of those that are not quiet.
struct LoudnessGate: ~Copyable, Sendable {
    /// The blocks of one loudness. Not private, because the compiler cannot then emit the buffer of these.
    struct Step: BitwiseCopyable, Sendable {
        var count = 0
        var power = 0.0
    }

    /// The blocks by their loudness, in steps of 0.1 LU from −70 LUFS.
    private var steps = FixedBuffer(repeating: Step(), count: 1_000)

    /// The absolute gate, in LUFS.
    private static var floor: Double { -70 }

    /// Adds a block by its mean square.
    @_noAllocation @_noLocks
    mutating func append(_ power: Double) {
        guard power > 0 else { return }
        let index = Self.index(of: power)
        guard index >= 0 else { return }
        steps[min(index, steps.count - 1)].count += 1
        steps[min(index, steps.count - 1)].power += power
    }

    /// The mean square of the blocks above both gates; nil if no block is above the absolute gate.
    var power: Double? {
        @_noAllocation @_noLocks get {
            guard let mean = mean(from: 0) else { return nil }
            // Ten loudness units are a tenth of the power.
            return self.mean(from: min(max(Self.index(of: mean / 10), 0), steps.count - 1))
        }
    }

    mutating func clear() {
        for index in 0..<steps.count { steps[index] = Step() }
    }

    /// Returns the mean square of the blocks in the steps from `first` on.
    @_noAllocation @_noLocks
    private func mean(from first: Int) -> Double? {
        var (count, power) = (0, 0.0)
        for index in first..<steps.count {
            count += steps[index].count
            power += steps[index].power
        }
        return count > 0 ? power / Double(count) : nil
    }

    /// Returns the step of a block, below 0 if it is below the absolute gate.
    @_noAllocation @_noLocks
    private static func index(of power: Double) -> Int {
        let loudness = DecibelMath.decibels(ofPower: max(power, 1e-30)) - 0.691
        return loudness < floor ? -1 : Int((loudness - floor) * 10)
    }
}
