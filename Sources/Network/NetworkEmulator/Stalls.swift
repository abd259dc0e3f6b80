private import TenfourAudioCore
internal import TenfourSeededRandom

/// Periods in which no packet is forwarded: packets sent in such a period wait for its end and then continue together.
/// A busy radio channel, a roaming Wi-Fi station or a scheduler causes stalls.
public struct Stalls: Hashable, Sendable {
    /// The length of a stall. All lengths between the bounds are equally probable.
    public var length: ClosedRange<Duration>
    /// The mean time between the beginnings of two stalls (a Poisson process). A time below one millisecond counts as
    /// one millisecond. Stalls may overlap.
    public var meanInterval: Duration

    public init(length: ClosedRange<Duration>, meanInterval: Duration) {
        self.length = length
        self.meanInterval = meanInterval
    }
}

/// Applies `Stalls` to packets. The times of stalls depend on the seed only, not on the packets.
struct StallProcess {
    private let gaps: Distribution
    private let lengths: Distribution
    private var generator: SeededRandom
    /// The time at which the next stall begins, in nanoseconds since the link began.
    private var nextBeginning: Int64
    /// The time at which the last of the stalls so far ends, in nanoseconds since the link began.
    private var end: Int64 = 0

    init(_ stalls: Stalls, generator: SeededRandom) {
        gaps = .exponential(mean: max(stalls.meanInterval, .milliseconds(1)))
        lengths = .uniform(stalls.length)
        self.generator = generator
        nextBeginning = gaps.draw(from: &self.generator)
    }

    /// Returns the time at which a packet sent at `time` continues: `time` itself or, during a stall, the end of the
    /// stall. Both times are in nanoseconds since the link began. Call this for packets in the order in which they are
    /// sent.
    mutating func release(ofPacketSentAt time: Int64) -> Int64 {
        // After a pause of more than an hour, simulates only the last hour before `time`. This is correct, because the
        // stalls of a Poisson process do not depend on earlier stalls.
        if time - nextBeginning > hour { nextBeginning = time - hour }
        while nextBeginning <= time {
            end = max(end, nextBeginning + lengths.draw(from: &generator))
            nextBeginning += gaps.draw(from: &generator)
        }
        return max(time, end)
    }
}

private let hour: Int64 = 3_600_000_000_000
