internal import TenfourAudioCore

/// The minimum of the last `length` values, each at most 1. Values of 1 are not stored.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
struct SlidingMinimum: ~Copyable, Sendable {
    /// A ring in the order of arrival. Each value is greater than the value before it, so the first is the minimum.
    private var values: FixedBuffer<Float>
    /// The serial number of each element of `values`. All inserted values are numbered, also those of 1, which are not
    /// stored.
    private var moments: FixedBuffer<Int>
    /// The index of the oldest value in the ring.
    private var first = 0
    /// The number of values in the ring.
    private var count = 0
    private var now = 0

    init(length: Int) {
        values = FixedBuffer(repeating: 1, count: length)
        moments = FixedBuffer(repeating: 0, count: length)
    }

    /// Whether all of the last `length` values were 1.
    var isEmpty: Bool { @_noAllocation @_noLocks get { count == 0 } }

    /// Inserts a value and returns the minimum.
    @_noAllocation @_noLocks
    mutating func next(_ value: Float) -> Float {
        now += 1
        if count > 0, now - moments[first] >= values.count {
            first = (first + 1) % values.count
            count -= 1
        }
        if value < 1 {
            while count > 0, values[(first + count - 1) % values.count] >= value { count -= 1 }
            let place = (first + count) % values.count
            values[place] = value
            moments[place] = now
            count += 1
        }
        return count > 0 ? values[first] : 1
    }
}
