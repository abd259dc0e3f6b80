internal import TenfourAudioCore

/// What is heard when, as far back as the card's queue reaches: from it follows the position at any moment, right through pauses,
/// seeks and changes of rate.
struct Timeline: BitwiseCopyable, Sendable {
    /// From a moment on, until the next begins.
    struct Stretch: BitwiseCopyable, Sendable {
        /// When its first frame is heard.
        var start: Instant
        /// Of the first frame, in nanoseconds from the beginning of the item.
        var position: Int64
        /// How much of the item passes in a nanosecond: zero where nothing sounds.
        var rate: Double
        var item: Int
        var generation: Int
        var isExact: Bool

        @_noAllocation @_noLocks
        init(start: Instant, position: Int64, rate: Double, item: Int, generation: Int, isExact: Bool) {
            self.start = start
            self.position = position
            self.rate = rate
            self.item = item
            self.generation = generation
            self.isExact = isExact
        }

        @_noAllocation @_noLocks
        func position(at moment: Instant) -> Int64 {
            position + Int64(Double(max(moment.nanoseconds - start.nanoseconds, 0)) * rate)
        }
    }

    private var stretches = InlineArray<16, Stretch>(
        repeating: Stretch(start: .start, position: 0, rate: 0, item: 0, generation: 0, isExact: true))
    /// Of all that were ever noted.
    private var count = 0

    /// What goes on as foreseen, to a millisecond, is no new stretch.
    private static var tolerance: Int64 { 1_000_000 }

    @_noAllocation @_noLocks
    mutating func note(_ stretch: Stretch) {
        if count > 0 {
            let last = stretches[(count - 1) & 15]
            let isSame =
                last.item == stretch.item && last.generation == stretch.generation && last.rate == stretch.rate
                && last.isExact == stretch.isExact
            let difference = last.position(at: stretch.start) - stretch.position
            if isSame, difference.magnitude < Self.tolerance.magnitude { return }
        }
        stretches[count & 15] = stretch
        count += 1
    }

    /// The stretch that is heard at `moment`; nil before the first.
    func stretch(at moment: Instant) -> Stretch? {
        guard count > 0 else { return nil }
        for index in stride(from: count - 1, through: max(count - 16, 0), by: -1) {
            let stretch = stretches[index & 15]
            if stretch.start <= moment { return stretch }
        }
        return stretches[max(count - 16, 0) & 15]
    }

    /// The latest, which may still lie in the card's queue.
    var last: Stretch? { count > 0 ? stretches[(count - 1) & 15] : nil }
}
