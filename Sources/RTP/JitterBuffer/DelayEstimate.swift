public import TenfourAudioCore

/// Estimates the distribution of packet delays. A packet's delay is its arrival minus its timestamp.
///
/// Only differences of delays have a meaning, because the two clocks started at different times. The base is the delay
/// of the fastest packet of the last ten seconds. The jitter buffer must delay playout by the difference between the
/// base and the delay of the slowest packets of half seconds (`DelayPeaks`).
///
/// Three events are not counted as jitter. When the route becomes shorter or longer, earlier measurements are shifted
/// by the same amount, so that the estimate follows within two seconds. When a stall is too long to be buffered, only
/// its first packet counts, and not each of the packets that arrive when it ends. When a talkspurt begins with packets
/// that were captured before it was sent (`TalkspurtStart`), they do not count.
///
/// A pause does not clear the estimate: measurements age only while packets arrive, and by one second for each pause.
/// They are corrected for the drift of the two clocks at all times.
public struct DelayEstimate: ~Copyable, Sendable {
    private static var bucketWidth: Int { 12 }
    private static var bucketCount: Int { 8_192 }
    private static var capacity: Int { 4_096 }
    /// The maximum delay that is buffered, in buckets of a quarter of a millisecond: half a second. A conversation does
    /// not tolerate a longer delay.
    private static var longestHeld: Int { 2_000 }
    /// The maximum age of the packets that count as recent: 1 s. Recent packets are compared with earlier ones to
    /// detect a change of the route.
    private static var routeMemory: FrameCount { FrameCount(48_000) }
    /// The time in which packets of both routes may arrive: 0.5 s. The half second before the recent packets is left out
    /// of the comparison.
    private static var routeChange: FrameCount { FrameCount(24_000) }
    private static var pollInterval: FrameCount { FrameCount(12_000) }
    /// The number of packets from which on the delay is measured and not extrapolated. It is enough to measure a high
    /// quantile.
    private static var sampleCountForQuantile: Int { 200 }
    /// The number of packets in the last second that is needed to detect a change of the route. It is unlikely that
    /// eight packets are all fast by chance.
    private static var minimumSampleCount: Int { 8 }
    /// The smallest change of the delay that counts as a change of the route, in buckets: 2 ms. The drift of the clocks
    /// changes the delay by less while the packets to be compared arrive.
    private static var routeStep: Int { 8 }
    /// The minimum time without a packet that counts as a pause: 1 s.
    private static var pause: FrameCount { FrameCount(48_000) }
    /// The longest pause after which the measurements are kept: ten minutes. After a longer pause the drift of the
    /// clocks is unknown.
    private static var longestPause: FrameCount { FrameCount(28_800_000) }

    /// The reserve that makes late packets rare, in percent of the difference between the median peak and the fastest
    /// packet. A sound server that captures one quantum at a time makes nearly equal peaks and needs less reserve. So
    /// the reserve is limited to 2 ms plus the difference between the estimated peak and the median peak.
    private static var reservePercent: Int { 22 }
    /// The maximum of the reserve if all peaks are equal, in buckets: 2 ms.
    private static var leastReserve: Int { 8 }
    /// The reserve for the speed of playout, which changes in steps: an eighth of a millisecond.
    private static var speedReserve: FrameCount { FrameCount(6) }
    /// The number of newest peaks that were measured on the new route when a change of the route is detected. Detection
    /// takes 1.5 s, which is part of at most four half seconds.
    private static var newestPeaks: Int { 4 }

    private let window: FrameCount
    private var peaks = DelayPeaks()
    /// The time from which packets belong to the present route.
    private var routeSince = FrameCount(0)
    /// The delay of the fastest packet since the route became longer, in buckets. Unlike `base`, it does not include
    /// the packets of the shorter route.
    private var routeBase = Int.min
    /// The number of packets of the last ten seconds (`window`) in each bucket of delays.
    private var histogram: FixedBuffer<UInt16>
    /// The packets of the last ten seconds (`window`), in a ring in order of arrival.
    private var arrivals: FixedBuffer<Sample>
    private var first = 0
    public private(set) var count = 0
    private var newest: (arrival: FrameCount, delay: FrameCount) = (FrameCount(0), FrameCount(0))
    /// The newest packet, if its delay exceeds the fastest packet's by more than `longestHeld`; nil otherwise. It is
    /// the first packet after a stall, or the first on a longer route.
    private var stall: Sample?
    /// The first packets of a talkspurt, until one has come that shows the network's delay; nil otherwise.
    private var talkspurt: TalkspurtStart?
    /// The time of the last check for a change of the route.
    private var lastPoll = FrameCount(0)
    /// The sum of all pauses, each less one second. It is not counted in the age of measurements.
    private var paused = FrameCount(0)
    /// The delay for which bucket 0 stands, in frames. It moves with the drift of the clocks.
    private var origin = 0.0
    /// Whether no packet since the last pause has confirmed the earlier measurements.
    private var isUncertain = false
    /// The bucket with the delay of the fastest packet of the last ten seconds (`window`).
    private var lowestBucket = 0
    /// The bucket with the delay of the slowest packet of the last ten seconds (`window`).
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

    /// The delay of the fastest packet of the last ten seconds (`window`); nil if none has arrived.
    public var base: FrameCount? {
        @_noAllocation @_noLocks get { count > 0 ? frames(lowestBucket) : nil }
    }

    /// The delay of the fastest packet of the last ten seconds (`window`) on the present route; nil if none has arrived.
    var baseOfRoute: FrameCount? {
        @_noAllocation @_noLocks get { count > 0 ? frames(max(lowestBucket, routeBase)) : nil }
    }

    /// Returns the delay that was exceeded only in the proportion `share` (0…1) of the half seconds, plus a reserve;
    /// nil without packets. If few packets have arrived, the delay is extrapolated, because slower packets will follow.
    ///
    /// `driftError` is the possible error of the drift, in frames per second: the oldest delays are off by it for each
    /// second of their age. On a quiet link without jitter, the newest packets alone show the delay.
    @_noAllocation @_noLocks
    public func delay(exceptFor share: Double, driftError: Double = 0) -> FrameCount? {
        guard count > 0 else { return nil }
        var level = lowestBucket
        var reserve = Self.speedReserve
        // There is no peak yet while the first talkspurt begins.
        if !peaks.isEmpty {
            // The slowest packet of the last ten seconds is a limit: older peaks may belong to a route that has become
            // shorter so slowly that no change of the route was detected.
            let peak = min(peaks.level(exceptFor: share), highestBucket)
            let base = max(lowestBucket, routeBase)
            let usual = max(peaks.typical - base, 0) * Self.reservePercent / 100
            let age = newest.arrival - paused - arrivals[first].at
            let seconds = Double(age.rawValue) / 48_000
            // Playout follows the newest delays within a second. Those in neighbouring buckets may be equal.
            let jitter = Double(max(peak - base - 1, 0) * Self.bucketWidth)
            let limit = peaks.omitsNewest ? .infinity : jitter + driftError
            reserve += FrameCount(Int(min(driftError * seconds, limit)))
            level = peak + min(usual, max(peak - peaks.typical, 0) + Self.leastReserve)
        }
        let spread = max(level + 1 - lowestBucket, 0) * max(Self.sampleCountForQuantile - count, 0) / (20 * (count + 5))
        return frames(max(level, lowestBucket) + 1 + spread) + reserve
    }

    /// The delay of the packet inserted last.
    public var newestDelay: FrameCount { @_noAllocation @_noLocks get { newest.delay } }

    /// Inserts the delay of a packet that arrived at `arrival`, and drops the packets that are older than ten seconds
    /// (`window`). Pauses do not count towards the age of a packet. `driftPartsPerMillion` is the rate at which delays
    /// grow because the clocks differ. `startsTalkspurt` is true for the first packet of a talkspurt. `hasWaited` is true for
    /// a packet that waited before it was read: it shows only that the network is not slower.
    ///
    /// Delays more than two seconds apart do not fit into one estimate. The caller then clears the estimate
    /// (`removeAll`).
    @_noAllocation @_noLocks
    public mutating func insert(
        _ delay: FrameCount, at arrival: FrameCount, startsTalkspurt: Bool = false, hasWaited: Bool = false,
        driftPartsPerMillion: Double = 0
    ) {
        if count > 0 {
            origin += Double((arrival - newest.arrival).rawValue) * driftPartsPerMillion * 1e-6
            endPause(until: arrival)
        }
        let now = arrival - paused
        while count > 0, count == Self.capacity || arrivals[first].at + window < now { removeFirst() }
        let wasHeldBackWithLast = count > 0 && wasHeldBackWithLast(delay, at: arrival)
        newest = (arrival, delay)
        if hasWaited { return enter(Sample(at: now, bucket: bucket(of: delay))) }
        if wasHeldBackWithLast, stall != nil { return }
        let sample = Sample(at: now, bucket: bucket(of: delay))
        if let first = stall {
            stall = nil
            // Clears the estimate if the first two packets after a pause are late: the talker's timestamps stood still
            // in the pause.
            if isUncertain, isTooLate(sample) { removeAll() }
            enter(first)
            peaks.insert(first.bucket, at: first.at)
        }
        // Holds a packet back that is very late. The next packet shows whether it ended a stall or has taken a longer
        // route.
        if isTooLate(sample) {
            stall = sample
        } else {
            isUncertain = false
            enter(sample)
            // A sender that marks every packet does not begin anew with each.
            if startsTalkspurt, talkspurt?.isUndecided(about: arrival - delay) != true {
                if let highest = talkspurt?.undecidedPeak { peaks.insert(highest, at: now) }
                talkspurt = TalkspurtStart(at: arrival, delay: delay)
            }
            if !wasHeldBackWithLast || talkspurt != nil { insertPeak(sample, delay, at: arrival) }
        }
        followRoute(at: now)
    }

    /// Inserts the peak of a packet, after those of the talkspurt's first packets if they count.
    private mutating func insertPeak(_ sample: Sample, _ delay: FrameCount, at arrival: FrameCount) {
        switch talkspurt?.insert(sample.bucket, at: arrival, delay: delay) {
        case .undecided, .wasCapturedEarlier: return
        case .network(let highest):
            talkspurt = nil
            peaks.insert(highest, at: sample.at)
        case nil: peaks.insert(sample.bucket, at: sample.at)
        }
    }

    /// Adds `frames` to all recorded arrivals, because the clock that measures arrivals was adjusted by this number.
    @_noAllocation @_noLocks
    public mutating func shift(by frames: FrameCount) {
        guard count > 0 else { return }
        origin += Double(frames.rawValue)
        newest.arrival += frames
        newest.delay += frames
        talkspurt?.shift(by: frames)
    }

    /// Handles a pause before this arrival. Earlier measurements age by one second only, and are uncertain until a
    /// packet confirms them. After a pause of more than ten minutes they are removed.
    private mutating func endPause(until arrival: FrameCount) {
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
        talkspurt = nil
        isUncertain = false
        routeBase = .min
        peaks.removeAll()
    }

    /// Whether the time between the arrivals of this packet and the previous one is less than half the time between
    /// their timestamps. A stall that held back both packets has this effect.
    private func wasHeldBackWithLast(_ delay: FrameCount, at arrival: FrameCount) -> Bool {
        let sentApart = arrival - delay - (newest.arrival - newest.delay)
        return (arrival - newest.arrival).rawValue * 2 < sentApart.rawValue
    }

    /// Follows a change of route. If all packets of the last second had a shorter delay than every earlier packet, the
    /// route has become shorter. If they all had a longer delay than nine tenths of the earlier packets, it has become
    /// longer. The earlier packets still give the best estimate of the jitter. Packets of both routes arrive while the
    /// route changes, so the half second before the last second is left out.
    private mutating func followRoute(at now: FrameCount) {
        guard now - lastPoll >= Self.pollInterval else { return }
        lastPoll = now
        var recentCount = 0
        var (fastest, slowest, fastestBefore, fastestNow) = (Int.max, Int.min, Int.max, Int.max)
        var countBefore = 0
        for index in (0..<count).reversed() {
            let sample = arrivals[(first + index) % Self.capacity]
            guard sample.at >= routeSince else { break }
            if now - sample.at < Self.routeMemory {
                (fastest, slowest) = (min(fastest, sample.bucket), max(slowest, sample.bucket))
                recentCount += 1
                if now - sample.at < Self.routeChange { fastestNow = min(fastestNow, sample.bucket) }
            } else if now - sample.at >= Self.routeMemory + Self.routeChange {
                fastestBefore = min(fastestBefore, sample.bucket)
                countBefore += 1
            }
        }
        guard recentCount >= Self.minimumSampleCount, countBefore > 0, fastestNow != .max else { return }
        // Waits if the last second began with packets of the shorter route.
        guard fastestNow - fastest <= max(slowest - fastestNow, Self.routeStep) else { return }
        if fastestBefore - slowest > Self.routeStep {
            peaks.lower(to: fastest, above: slowest, newestCount: Self.newestPeaks)
            (routeBase, routeSince) = (.min, now - Self.routeMemory)
        } else if fastest - fastestBefore > Self.routeStep, isSlower(fastest, thanMostBefore: now) {
            peaks.raise(to: fastest, newestCount: Self.newestPeaks)
            (routeBase, routeSince) = (fastest, now - Self.routeMemory)
        }
    }

    /// Whether the delay `bucket` exceeds nine tenths of the delays that were measured more than 1.5 s before `now`.
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
