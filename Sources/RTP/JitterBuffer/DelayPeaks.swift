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

    private var peaks = FixedBuffer(repeating: 0, count: Self.capacity)
    /// The values of `peaks`, sorted in descending order.
    private var sorted = FixedBuffer(repeating: 0, count: Self.capacity)
    /// The number of peaks.
    private var count = 0
    /// The index of the newest peak in `peaks`.
    private var newest = 0
    /// The beginning of the half second to which the newest peak belongs.
    private var beginning = FrameCount(0)

    init() {}

    var isEmpty: Bool { @_noAllocation @_noLocks get { count == 0 } }

    /// Returns the delay, in buckets, that only the proportion `share` (0…1) of the peaks exceeds. If there are enough
    /// peaks to recognize an outlier, at least one peak is left out. Zero without peaks.
    @_noAllocation @_noLocks
    func level(exceptFor share: Double) -> Int {
        guard count > 0 else { return 0 }
        return sorted[count < Self.minimumPeakCount ? 0 : max(Int(Double(count) * share), 1)]
    }

    /// The median peak, in buckets.
    var typical: Int { @_noAllocation @_noLocks get { count > 0 ? sorted[count / 2] : 0 } }

    /// Inserts the delay of a packet that arrived at `now`. `bucket` is this delay in buckets.
    @_noAllocation @_noLocks
    mutating func insert(_ bucket: Int, at now: FrameCount) {
        if count == 0 || now - beginning >= Self.length {
            beginning = now
            newest = count > 0 ? (newest + 1) % Self.capacity : 0
            count = min(count + 1, Self.capacity)
            peaks[newest] = bucket
        } else if bucket > peaks[newest] {
            peaks[newest] = bucket
        } else {
            return
        }
        sort()
    }

    /// Lowers each peak above `limit` by `step`, but not below `least`, because the route has become shorter. All three
    /// are in buckets.
    @_noAllocation @_noLocks
    mutating func lower(by step: Int, above limit: Int, notBelow least: Int) {
        for index in 0..<count where peaks[index] > limit { peaks[index] = max(peaks[index] - step, least) }
        sort()
    }

    /// Raises all peaks but the newest `newestCount` by `step` buckets, because the route has become longer. The newest
    /// peaks were measured on the new route.
    @_noAllocation @_noLocks
    mutating func raise(by step: Int, exceptNewest newestCount: Int) {
        for age in newestCount..<max(count, newestCount) {
            let index = (newest + Self.capacity - age) % Self.capacity
            peaks[index] += step
        }
        sort()
    }

    @_noAllocation @_noLocks
    mutating func removeAll() { count = 0 }

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
    }
}
