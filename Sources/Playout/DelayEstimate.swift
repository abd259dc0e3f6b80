public import Sound

/// Measures how packets arrive: for each, its arrival minus its timestamp, over the last ten seconds.
///
/// The number itself means nothing, since the two clocks started apart; the least of them belongs to the fastest packet,
/// and how far a high quantile lies above it is what a buffer must hold. A histogram with a quarter of a millisecond a
/// bucket makes each packet one step in and one step out.
public struct DelayEstimate: ~Copyable, Sendable {
    private static var bucketWidth: Int { 12 }
    private static var bucketCount: Int { 8_192 }
    private static var capacity: Int { 4_096 }

    private let window: FrameCount
    private var histogram: Preallocated<UInt16>
    private var arrivals: Preallocated<Sample>
    private var first = 0
    public private(set) var count = 0
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

    /// The delay that all but `share` (0…1) of the packets in the window kept within; nil when there is none. With few
    /// packets this is the slowest one.
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
        return FrameCount((bucket + 1) * Self.bucketWidth)
    }

    /// Takes a packet in that arrived at `arrival` and began at `timestamp`, and forgets those older than the window.
    ///
    /// Delays more than two seconds apart do not fit into one estimate: the caller begins a new one (`removeAll`).
    @_noAllocation @_noLocks
    public mutating func insert(_ delay: FrameCount, at arrival: FrameCount) {
        while count > 0, count == Self.capacity || arrivals[first].at + window < arrival { removeFirst() }
        let bucket = Self.bucket(of: delay)
        guard count == 0 || max(bucket, highestBucket) - min(bucket, lowestBucket) < Self.bucketCount else { return }
        lowestBucket = count > 0 ? min(lowestBucket, bucket) : bucket
        highestBucket = count > 0 ? max(highestBucket, bucket) : bucket
        histogram[place(of: bucket)] += 1
        arrivals[(first + count) % Self.capacity] = Sample(at: arrival, bucket: bucket)
        count += 1
    }

    @_noAllocation @_noLocks
    public mutating func removeAll() { while count > 0 { removeFirst() } }

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
