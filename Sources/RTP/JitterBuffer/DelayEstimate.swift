public import TenfourAudioCore

/// Measures how packets arrive: for each, its arrival minus its timestamp.
///
/// The number itself means nothing, since the two clocks started apart. The least of the last ten seconds belongs to the fastest
/// packet. How far the slowest packets of half seconds (`DelayPeaks`) lie above it is what a buffer must hold.
///
/// Two things are no jitter. A route that has become shorter or longer moves what was measured before along, so that it is
/// followed within two seconds and not when the old route is forgotten. And a stall too long to be buffered away is one event,
/// not the hundred packets that come when it ends.
///
/// A pause does not empty it: what was measured ages while packets come, by a second for each pause. It moves along with the two
/// clocks at all times.
public struct DelayEstimate: ~Copyable, Sendable {
    private static var bucketWidth: Int { 12 }
    private static var bucketCount: Int { 8_192 }
    private static var capacity: Int { 4_096 }
    /// What no conversation would have a buffer hold, in buckets: half a second.
    private static var longestHeld: Int { 2_000 }
    private static var routeMemory: FrameCount { FrameCount(48_000) }
    private static var routeChange: FrameCount { FrameCount(24_000) }
    private static var pollInterval: FrameCount { FrameCount(12_000) }
    /// From so many packets a high quantile is known.
    private static var many: Int { 200 }
    /// So many packets are not all fast by chance.
    private static var fewest: Int { 8 }
    /// 2 ms, in buckets: more than clocks drift apart in the time.
    private static var routeStep: Int { 8 }
    /// After one second without a packet it is a pause.
    private static var pause: FrameCount { FrameCount(48_000) }
    /// After ten minutes nobody knows how far the clocks have moved.
    private static var longestPause: FrameCount { FrameCount(28_800_000) }

    /// The reserve, as a part of how far the median peak lies above the fastest packet. It makes late packets rare. But where peaks are
    /// alike, as from a sound server that captures a quantum at a time, it is no more than by how much they differ, and 2 ms.
    private static var reservePercent: Int { 22 }
    private static var leastReserve: Int { 8 }
    /// How many peaks belong to the last second and to the half second in which a route changes.
    private static var newestPeaks: Int { 4 }

    private let window: FrameCount
    private var peaks = DelayPeaks()
    /// Samples from before belong to another route.
    private var routeSince = FrameCount(0)
    /// The fastest packet of a route that has become longer; the base is that of the shorter one for ten more seconds.
    private var routeBase = Int.min
    private var histogram: FixedBuffer<UInt16>
    private var arrivals: FixedBuffer<Sample>
    private var first = 0
    public private(set) var count = 0
    private var newest: (arrival: FrameCount, delay: FrameCount) = (FrameCount(0), FrameCount(0))
    /// A packet so late that no buffer would have held it: the first of a stall, or of a longer route.
    private var stall: Sample?
    private var lastPoll = FrameCount(0)
    /// What all pauses have lasted beyond a second each: no packet aged in that time.
    private var paused = FrameCount(0)
    /// Where bucket 0 lies, in frames: clocks that drift move it.
    private var origin = 0.0
    /// What was measured before a pause has not been seen to hold after it.
    private var isUncertain = false
    private var lowestBucket = 0
    private var highestBucket = 0

    struct Sample: BitwiseCopyable, Sendable {
        var at: FrameCount
        var bucket: Int
    }

    public init(window: FrameCount = FrameCount(480_000)) {
        self.window = window
        histogram = FixedBuffer(repeating: 0, count: Self.bucketCount)
        arrivals = FixedBuffer(repeating: Sample(at: .zero, bucket: 0), count: Self.capacity)
    }

    /// The delay of the fastest packet in the window; nil when there is none.
    public var base: FrameCount? {
        @_noAllocation @_noLocks get { count > 0 ? frames(lowestBucket) : nil }
    }

    /// The delay that the slowest packets of all but `share` (0…1) of the half seconds kept within, plus a reserve; nil when there
    /// was no packet. From few packets it is extrapolated: the slowest of few is not the slowest there will be.
    @_noAllocation @_noLocks
    public func delay(exceptFor share: Double) -> FrameCount? {
        guard count > 0 else { return nil }
        let peak = peaks.level(exceptFor: share)
        let usual = max(peaks.typical - max(lowestBucket, routeBase), 0) * Self.reservePercent / 100
        let level = peak + min(usual, max(peak - peaks.typical, 0) + Self.leastReserve)
        let spread = max(level + 1 - lowestBucket, 0) * max(Self.many - count, 0) / (20 * (count + 5))
        return frames(max(level, lowestBucket) + 1 + spread)
    }

    /// The delay of the packet that came last.
    public var newestDelay: FrameCount { @_noAllocation @_noLocks get { newest.delay } }

    /// Takes in the delay of a packet that arrived at `arrival`, and forgets those older than the window, pauses left out.
    /// `driftPartsPerMillion`: how fast delays grow because the clocks differ.
    ///
    /// Delays more than two seconds apart do not fit into one estimate: the caller begins a new one (`removeAll`).
    @_noAllocation @_noLocks
    public mutating func insert(_ delay: FrameCount, at arrival: FrameCount, driftPartsPerMillion: Double = 0) {
        if count > 0 {
            origin += Double((arrival - newest.arrival).rawValue) * driftPartsPerMillion * 1e-6
            passPause(until: arrival)
        }
        let now = arrival - paused
        while count > 0, count == Self.capacity || arrivals[first].at + window < now { removeFirst() }
        let isOnHeels = count > 0 && isOnHeels(delay, at: arrival)
        newest = (arrival, delay)
        if isOnHeels, stall != nil { return }
        let sample = Sample(at: now, bucket: bucket(of: delay))
        if let first = stall {
            stall = nil
            // Two that are so late after a pause: the talker's timestamps stood still in it.
            if isUncertain, isTooLate(sample) { removeAll() }
            enter(first)
            peaks.insert(first.bucket, at: first.at)
        }
        // Whether it ends a stall or has gone a longer way, the next one tells.
        if isTooLate(sample) {
            stall = sample
        } else {
            isUncertain = false
            enter(sample)
            if !isOnHeels { peaks.insert(sample.bucket, at: now) }
        }
        followRoute(at: now)
    }

    /// All arrivals, before and from now on, are `frames` later: the clock that they are told by was set.
    @_noAllocation @_noLocks
    public mutating func shift(by frames: FrameCount) {
        guard count > 0 else { return }
        origin += Double(frames.rawValue)
        newest.arrival += frames
        newest.delay += frames
    }

    /// Keeps what was measured before a pause.
    private mutating func passPause(until arrival: FrameCount) {
        let gap = arrival - newest.arrival
        guard gap > Self.pause else { return }
        guard gap <= Self.longestPause else { return removeAll() }
        paused += gap - Self.pause
        isUncertain = true
    }

    private func isTooLate(_ sample: Sample) -> Bool { count > 0 && sample.bucket - lowestBucket > Self.longestHeld }

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
        isUncertain = false
        routeBase = .min
        peaks.removeAll()
    }

    /// Whether it comes much sooner after the one before it than it was sent, as when both were held back.
    private func isOnHeels(_ delay: FrameCount, at arrival: FrameCount) -> Bool {
        let sentApart = arrival - delay - (newest.arrival - newest.delay)
        return (arrival - newest.arrival).rawValue * 2 < sentApart.rawValue
    }

    /// When all packets of the last second came sooner than any before, the route is a shorter one; when all came later than nine
    /// tenths of those before, it is a longer one. The spread is still best known from the packets before. While a route changes,
    /// packets of both arrive at a time: those of the half second between are no evidence.
    private mutating func followRoute(at now: FrameCount) {
        guard now - lastPoll >= Self.pollInterval else { return }
        lastPoll = now
        var recentCount = 0
        var (fastest, slowest, fastestBefore) = (Int.max, Int.min, Int.max)
        var (sum, countBefore, sumBefore) = (0, 0, 0)
        for index in (0..<count).reversed() {
            let sample = arrivals[(first + index) % Self.capacity]
            guard sample.at >= routeSince else { break }
            if now - sample.at < Self.routeMemory {
                (fastest, slowest) = (min(fastest, sample.bucket), max(slowest, sample.bucket))
                recentCount += 1
                sum += sample.bucket
            } else if now - sample.at >= Self.routeMemory + Self.routeChange {
                fastestBefore = min(fastestBefore, sample.bucket)
                countBefore += 1
                sumBefore += sample.bucket
            }
        }
        guard recentCount >= Self.fewest, countBefore > 0 else { return }
        // Of the means, since the fastest of few is slower than the fastest of many.
        let step = sum / recentCount - sumBefore / countBefore
        if fastestBefore - slowest > Self.routeStep {
            routeBase = .min
            peaks.lower(by: -step, above: slowest, notBelow: fastest)
            routeSince = now - Self.routeMemory
        } else if fastest - fastestBefore > Self.routeStep, isSlower(fastest, thanMostBefore: now) {
            routeBase = fastest
            peaks.raise(by: step, exceptNewest: Self.newestPeaks)
            routeSince = now - Self.routeMemory
        }
    }

    /// Whether a delay is longer than nine tenths of those before the last second and a half.
    private func isSlower(_ bucket: Int, thanMostBefore now: FrameCount) -> Bool {
        var (slower, all) = (0, 0)
        for index in (0..<count).reversed() {
            let sample = arrivals[(first + index) % Self.capacity]
            guard sample.at >= routeSince else { break }
            guard now - sample.at >= Self.routeMemory + Self.routeChange else { continue }
            all += 1
            if sample.bucket < bucket { slower += 1 }
        }
        return slower * 10 >= all * 9
    }

    private mutating func removeFirst() {
        histogram[place(of: arrivals[first].bucket)] -= 1
        first = (first + 1) % Self.capacity
        count -= 1
        guard count > 0 else { return }
        while histogram[place(of: lowestBucket)] == 0 { lowestBucket += 1 }
        while histogram[place(of: highestBucket)] == 0 { highestBucket -= 1 }
    }

    private func frames(_ bucket: Int) -> FrameCount { FrameCount(Int(origin) + bucket * Self.bucketWidth) }

    private func bucket(of delay: FrameCount) -> Int {
        let (quotient, rest) = (delay.rawValue - Int(origin)).quotientAndRemainder(dividingBy: Self.bucketWidth)
        return rest < 0 ? quotient - 1 : quotient
    }

    private func place(of bucket: Int) -> Int { bucket & (Self.bucketCount - 1) }
}
