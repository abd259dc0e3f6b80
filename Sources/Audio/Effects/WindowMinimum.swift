internal import TenfourAudioCore

/// The minimum of the last `length` gains, each at most 1.
///
/// The gains are taken in blocks of `length`. The minimum is that of the present block so far, or that of the end of the
/// block before, whichever is lower (van Herk, 1992).
struct WindowMinimum: ~Copyable, Sendable {
    let length: Int

    /// The gains of the present block, and behind them, from `index` on, the minima of the end of the block before.
    private var gains: FixedBuffer<Float>
    private var index = 0
    /// The minimum of the present block so far.
    private var lowest: Float = 1

    init(length: Int) {
        self.length = length
        gains = FixedBuffer(repeating: 1, count: length)
    }

    /// Adds a gain and returns the minimum.
    @_noAllocation @_noLocks
    mutating func next(_ gain: Float) -> Float {
        gains[index] = gain
        if gain < lowest { lowest = gain }
        index += 1
        if index == length { beginBlock() }
        // The window ends before the minimum of the old block at `index`, which begins with its oldest gain.
        let before = gains[index]
        return lowest < before ? lowest : before
    }

    mutating func clear() {
        for index in 0..<length { gains[index] = 1 }
        (index, lowest) = (0, 1)
    }

    /// Replaces each gain of the full block with the minimum from it to the end of the block.
    @_noAllocation @_noLocks
    private mutating func beginBlock() {
        var minimum: Float = 1
        for place in stride(from: length - 1, through: 0, by: -1) {
            if gains[place] < minimum { minimum = gains[place] }
            gains[place] = minimum
        }
        (index, lowest) = (0, 1)
    }
}
