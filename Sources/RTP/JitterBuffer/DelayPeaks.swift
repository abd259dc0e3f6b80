internal import TenfourAudioCore

/// The delay of the slowest packet (the peak) of each half second, over the last half minute in which packets came.
///
/// A stall makes one peak, however many packets it holds back, so the proportion of high peaks shows the frequency of
/// stalls. A single stall in half a minute is an outlier and is left out; a stall every two seconds must be buffered.
/// NetEQ counts delays in the same way (underrun_optimizer.cc: maxima of 500 ms, their .95 quantile). Delays are in
/// buckets of the `DelayEstimate` that owns this.
struct DelayPeaks: ~Copyable, Sendable {
    /// The maximum number of peaks: 60, those of half a minute. Further peaks replace the oldest.
    private static var capacity: Int { 60 }
    /// The duration for which a peak is measured: half a second.
    private static var length: FrameCount { FrameCount(24_000) }
    /// The number of peaks that is needed to recognize an outlier: 4, which takes 2 s.
    private static var minimumPeakCount: Int { 4 }

    /// The number of newest peaks that show whether the link is quiet: those of seven seconds.
    private static var quietCount: Int { 14 }
    /// The maximum difference of the newest peaks of a quiet link, in buckets: 5 ms.
    private static var quietRange: Int { 20 }
    /// A peak of a quiet link is a spike if it exceeds the median by more than this number of buckets, 0.5 ms, and half of
    /// the jitter.
    private static var quietSpread: Int { 2 }

    private var peaks = FixedBuffer(repeating: 0, count: Self.capacity)
    /// The delay of the fastest packet of each half second, in the order of `peaks`.
    private var floors = FixedBuffer(repeating: 0, count: Self.capacity)
    /// The values of `peaks`, sorted in descending order.
    private var sorted = FixedBuffer(repeating: 0, count: Self.capacity)
    /// The number of peaks.
    private var count = 0
    /// The index of the newest peak in `peaks`.
    private var newest = 0
    /// The beginning of the half second to which the newest peak belongs.
    private var beginning = FrameCount(0)
    /// The highest of the newest peaks that are no spikes, if the link is quiet; nil if it is not.
    private var quietPeak: Int?

    init() {}

    var isEmpty: Bool { @_noAllocation @_noLocks get { count == 0 } }

    /// Returns the delay, in buckets, that only the proportion `share` (0…1) of the peaks exceeds. If there are enough
    /// peaks to recognize an outlier, at least one peak is left out. The newest peaks of a quiet link hold no outliers but
    /// spikes, so the highest of the others is not exceeded. Zero without peaks.
    @_noAllocation @_noLocks
    func level(exceptFor share: Double) -> Int {
        guard count > 0 else { return 0 }
        return max(sorted[count < Self.minimumPeakCount ? 0 : max(Int(Double(count) * share), 1)], quietPeak ?? .min)
    }

    /// Whether the newest peaks are left out as outliers if they are the highest, as those of a route that becomes longer.
    var omitsNewest: Bool { @_noAllocation @_noLocks get { count >= Self.minimumPeakCount && quietPeak == nil } }

    /// The median peak, in buckets.
    var typical: Int { @_noAllocation @_noLocks get { count > 0 ? sorted[count / 2] : 0 } }

    /// Inserts the delay of a packet that arrived at `now`. `bucket` is this delay in buckets.
    @_noAllocation @_noLocks
    mutating func insert(_ bucket: Int, at now: FrameCount) {
        if count == 0 || now - beginning >= Self.length {
            beginning = now
            forgetLongerRoute()
            newest = count > 0 ? (newest + 1) % Self.capacity : 0
            count = min(count + 1, Self.capacity)
            peaks[newest] = bucket
            floors[newest] = bucket
        } else {
            floors[newest] = min(floors[newest], bucket)
            guard bucket > peaks[newest] else { return }
            peaks[newest] = bucket
        }
        sort()
    }

    /// Lowers the half seconds of a route that has become shorter, if the link has been quiet since. It may have become
    /// shorter so slowly that no change of the route was detected. Stalls of the link stay.
    private mutating func forgetLongerRoute() {
        guard count > Self.quietCount, let quietPeak else { return }
        var base = Int.max
        for age in 0..<Self.quietCount { base = min(base, floors[index(ofAge: age)]) }
        lower(to: base, above: quietPeak, newestCount: 0)
    }

    private mutating func updateQuietPeak() {
        quietPeak = nil
        guard count >= Self.minimumPeakCount else { return }
        let newestCount = min(count, Self.quietCount)
        var (base, lowest, highest) = (Int.max, Int.max, Int.min)
        for age in 0..<newestCount {
            let index = index(ofAge: age)
            base = min(base, floors[index])
            (lowest, highest) = (min(lowest, peaks[index]), max(highest, peaks[index]))
        }
        guard highest - lowest <= Self.quietRange else { return }
        // The peaks of jitter that is bounded are close together. A higher one is a spike, unless all packets of its half
        // second were slow.
        let median = median(ofNewest: newestCount)
        let limit = median + Self.quietSpread + (median - base) / 2
        var peak = lowest
        for age in 0..<newestCount {
            let index = index(ofAge: age)
            if peaks[index] <= limit || floors[index] > median { peak = max(peak, peaks[index]) }
        }
        quietPeak = peak
    }

    private func median(ofNewest newestCount: Int) -> Int {
        for age in 0..<newestCount {
            let peak = peaks[index(ofAge: age)]
            var place = 0
            for other in 0..<newestCount {
                let rival = peaks[index(ofAge: other)]
                if rival < peak || rival == peak && other < age { place += 1 }
            }
            if place == newestCount / 2 { return peak }
        }
        return peaks[newest]
    }

    /// Moves each half second in which all packets were slower than `limit` to the base `base`, because the route has
    /// become shorter. Its jitter stays. The newest `newestCount` may hold packets of both routes, and are limited to
    /// `limit`. Both are in buckets.
    @_noAllocation @_noLocks
    mutating func lower(to base: Int, above limit: Int, newestCount: Int) {
        for age in 0..<count {
            let index = index(ofAge: age)
            if floors[index] > limit { move(index, to: base) }
            if age < newestCount { peaks[index] = min(peaks[index], limit) }
        }
        sort()
    }

    /// Moves each half second to the base `base`, if its fastest packet was faster, because the route has become
    /// longer. Its jitter stays. The peaks of the newest `newestCount` stay, because they were measured on the new
    /// route.
    @_noAllocation @_noLocks
    mutating func raise(to base: Int, newestCount: Int) {
        for age in 0..<count {
            let index = index(ofAge: age)
            if age < newestCount {
                floors[index] = max(floors[index], min(base, peaks[index]))
            } else if floors[index] < base {
                move(index, to: base)
            }
        }
        sort()
    }

    /// The index of the half second that is `age` half seconds older than the newest.
    private func index(ofAge age: Int) -> Int { (newest + Self.capacity - age) % Self.capacity }

    private mutating func move(_ index: Int, to base: Int) {
        peaks[index] += base - floors[index]
        floors[index] = base
    }

    @_noAllocation @_noLocks
    mutating func removeAll() {
        count = 0
        quietPeak = nil
    }

    private mutating func sort() {
        for index in 0..<count {
            let peak = peaks[index]
            var place = index
            while place > 0, sorted[place - 1] < peak {
                sorted[place] = sorted[place - 1]
                place -= 1
            }
            sorted[place] = peak
        }
        updateQuietPeak()
    }
}
