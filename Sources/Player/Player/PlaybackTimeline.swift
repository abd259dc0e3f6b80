internal import TenfourAudioCore

/// Maps moments to playback positions, across pauses, seeks and changes of rate. Covers the duration of the card's
/// buffer.
struct PlaybackTimeline: BitwiseCopyable, Sendable {
    /// A segment of constant rate, valid until the next segment begins.
    struct Segment: BitwiseCopyable, Sendable {
        /// The moment at which the segment's first frame is heard.
        var start: Instant
        /// The position of the first frame, in nanoseconds from the start of the item.
        var position: Int64
        /// The playback rate: nanoseconds of the item per nanosecond of time. It is zero while nothing is played.
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

    private var segments = InlineArray<16, Segment>(
        repeating: Segment(start: .start, position: 0, rate: 0, item: 0, generation: 0, isExact: true))
    /// The number of segments recorded so far.
    private var count = 0

    /// The tolerance in nanoseconds. If playback deviates further from the last segment, a new segment begins.
    private static var tolerance: Int64 { 1_000_000 }

    @_noAllocation @_noLocks
    mutating func record(_ segment: Segment) {
        if count > 0 {
            let last = segments[(count - 1) & 15]
            let isSame =
                last.item == segment.item && last.generation == segment.generation && last.rate == segment.rate
                && last.isExact == segment.isExact
            let difference = last.position(at: segment.start) - segment.position
            if isSame, difference.magnitude < Self.tolerance.magnitude { return }
        }
        segments[count & 15] = segment
        count += 1
    }

    /// The segment that is heard at `moment`; nil before the first segment.
    func segment(at moment: Instant) -> Segment? { number(at: moment).map { segments[$0 & 15] } }

    /// The segments from the one with the number `first` to the one that is heard at `moment`, except those that were
    /// forgotten. Segments are numbered from zero in the order of their records; `first` becomes the number of the
    /// last one returned.
    func segments(from first: inout Int, to moment: Instant) -> [Segment] {
        guard let last = number(at: moment) else { return [] }
        defer { first = last }
        return (min(max(first, count - 16), last)...last).map { segments[$0 & 15] }
    }

    private func number(at moment: Instant) -> Int? {
        guard count > 0 else { return nil }
        let oldest = max(count - 16, 0)
        return (oldest..<count).last { segments[$0 & 15].start <= moment } ?? oldest
    }

    /// The latest segment, whose audio may still be in the card's buffer.
    var last: Segment? { count > 0 ? segments[(count - 1) & 15] : nil }
}
