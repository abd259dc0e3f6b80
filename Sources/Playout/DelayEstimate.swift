public import Sound

/// Measures how packets arrive: for each, its arrival minus its timestamp, over the last ten seconds.
///
/// The number itself means nothing, since the two clocks started apart; the least of them belongs to the fastest packet,
/// and how far a high quantile lies above it is what a buffer must hold. A histogram with a quarter of a millisecond a
/// bucket makes each packet one step in and one step out.
///
/// Two things are no jitter. A route that has become shorter moves what was measured before along, so that it is followed
/// within a second and not when the old route is forgotten. And a stall too long to be buffered away is one event, not the
/// hundred packets that come when it ends.
public struct DelayEstimate: ~Copyable, Sendable {
    private static var bucketWidth: Int { 12 }
    private static var bucketCount: Int { 8_192 }
    private static var capacity: Int { 4_096 }
    /// What no conversation would have a buffer hold, in buckets: half a second.
    private static var longestHeld: Int { 2_000 }
    private static var routeMemory: FrameCount { FrameCount(48_000) }
    private static var routeChange: FrameCount { FrameCount(24_000) }
    private static var lookInterval: FrameCount { FrameCount(12_000) }
    /// From so many packets a high quantile is known.
    private static var many: Int { 200 }
    /// So many packets are not all fast by chance.
    private static var fewest: Int { 8 }
    /// 2 ms, in buckets: more than clocks drift apart in the time.
    private static var routeStep: Int { 8 }

    private let window: FrameCount
    private var histogram: Preallocated<UInt16>
    private var arrivals: Preallocated<Sample>
    private var first = 0
    public private(set) var count = 0
    private var newest: (arrival: FrameCount, delay: FrameCount) = (FrameCount(0), FrameCount(0))
    /// A packet so late that no buffer would have held it: the first of a stall, or of a longer route.
    private var stall: Sample?
    private var lastLook = FrameCount(0)
    private var lowestBucket = 0
    private var highestBucket = 0

    struct Sample: BitwiseCopyable, Sendable {
        var at: FrameCount
        var bucket: Int
    }

    public init(window: FrameCount = FrameCount(480_000)) {
        self.window = window
        histogram = Preallocated(repeating: 0, count: Self.bucketCount)
        arrivals = Preallocated(repeating: Sample(at: .zero, bucket: 0), count: Self.capacity)
    }

    /// The delay of the fastest packet in the window; nil when there is none.
    public var base: FrameCount? {
        @_noAllocation @_noLocks get { count > 0 ? FrameCount(lowestBucket * Self.bucketWidth) : nil }
    }

    /// The delay that all but `share` (0…1) of the packets in the window kept within; nil when there is none. From few
    /// packets it is foretold: the slowest of so few is not the slowest there will be.
    @_noAllocation @_noLocks
    public func delay(exceptFor share: Double) -> FrameCount? {
        guard count > 0 else { return nil }
        var above = Int(Double(count) * share)
        var bucket = highestBucket
        while bucket > lowestBucket {
            let here = Int(histogram[place(of: bucket)])
            if here > above { break }
            above -= here
            bucket -= 1
        }
        let spread = (bucket + 1 - lowestBucket) * max(Self.many - count, 0) / (20 * (count + 5))
        return FrameCount((bucket + 1 + spread) * Self.bucketWidth)
    }

    /// Takes in the delay of a packet that arrived at `arrival`, and forgets those older than the window.
    ///
    /// Delays more than two seconds apart do not fit into one estimate: the caller begins a new one (`removeAll`).
    @_noAllocation @_noLocks
    public mutating func insert(_ delay: FrameCount, at arrival: FrameCount) {
        while count > 0, count == Self.capacity || arrivals[first].at + window < arrival { removeFirst() }
        let bucket = Self.bucket(of: delay)
        let isOnHeels = isOnHeels(delay, at: arrival)
        newest = (arrival, delay)
        if isOnHeels, stall != nil { return }
        if let first = stall {
            stall = nil
            enter(first)
        }
        let sample = Sample(at: arrival, bucket: bucket)
        // Whether it ends a stall or has gone a longer way, the next one tells.
        if count > 0, bucket - lowestBucket > Self.longestHeld { stall = sample } else { enter(sample) }
        followRoute(at: arrival)
    }

    private mutating func enter(_ sample: Sample) {
        let bucket = sample.bucket
        guard count == 0 || max(bucket, highestBucket) - min(bucket, lowestBucket) < Self.bucketCount else { return }
        lowestBucket = count > 0 ? min(lowestBucket, bucket) : bucket
        highestBucket = count > 0 ? max(highestBucket, bucket) : bucket
        histogram[place(of: bucket)] += 1
        arrivals[(first + count) % Self.capacity] = sample
        count += 1
    }

    @_noAllocation @_noLocks
    public mutating func removeAll() {
        while count > 0 { removeFirst() }
        stall = nil
    }

    /// Whether it comes much sooner after the one before it than it was sent, as when both were held back.
    private func isOnHeels(_ delay: FrameCount, at arrival: FrameCount) -> Bool {
        let sentApart = arrival - delay - (newest.arrival - newest.delay)
        return (arrival - newest.arrival).rawValue * 2 < sentApart.rawValue
    }

    /// When all packets of the last second came sooner than any before, the route is a shorter one. How they spread is still
    /// best known from those before. While a route changes, packets of both arrive at a time: those of the half second
    /// between are no evidence.
    private mutating func followRoute(at now: FrameCount) {
        guard now - lastLook >= Self.lookInterval else { return }
        lastLook = now
        var recentCount = 0
        var (fastest, slowest, fastestBefore) = (Int.max, Int.min, Int.max)
        for index in (0..<count).reversed() {
            let sample = arrivals[(first + index) % Self.capacity]
            if now - sample.at < Self.routeMemory {
                (fastest, slowest) = (min(fastest, sample.bucket), max(slowest, sample.bucket))
                recentCount += 1
            } else if now - sample.at >= Self.routeMemory + Self.routeChange {
                fastestBefore = min(fastestBefore, sample.bucket)
            }
        }
        guard recentCount >= Self.fewest, fastestBefore != Int.max, fastestBefore - slowest > Self.routeStep else {
            return
        }
        for index in 0..<count { shorten((first + index) % Self.capacity, above: slowest, by: fastestBefore - fastest) }
        while histogram[place(of: highestBucket)] == 0 { highestBucket -= 1 }
    }

    /// Moves a delay of the old route to the new one.
    private mutating func shorten(_ place: Int, above limit: Int, by step: Int) {
        let bucket = arrivals[place].bucket
        guard bucket > limit else { return }
        arrivals[place].bucket = max(bucket - step, lowestBucket)
        histogram[self.place(of: bucket)] -= 1
        histogram[self.place(of: arrivals[place].bucket)] += 1
    }

    private mutating func removeFirst() {
        histogram[place(of: arrivals[first].bucket)] -= 1
        first = (first + 1) % Self.capacity
        count -= 1
        guard count > 0 else { return }
        while histogram[place(of: lowestBucket)] == 0 { lowestBucket += 1 }
        while histogram[place(of: highestBucket)] == 0 { highestBucket -= 1 }
    }

    private static func bucket(of delay: FrameCount) -> Int {
        let (quotient, rest) = delay.rawValue.quotientAndRemainder(dividingBy: bucketWidth)
        return rest < 0 ? quotient - 1 : quotient
    }

    private func place(of bucket: Int) -> Int { bucket & (Self.bucketCount - 1) }
}
