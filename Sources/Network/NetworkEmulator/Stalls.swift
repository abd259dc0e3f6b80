private import TenfourAudioCore

/// Periods in which no packet moves: packets sent in one wait for its end and then travel on together. A busy radio
/// channel, a roaming Wi-Fi station or a scheduler causes them.
public struct Stalls: Hashable, Sendable {
    /// Uniform between the bounds.
    public var length: ClosedRange<Duration>
    /// The mean time between the beginnings of two stalls (a Poisson process); at least a millisecond. Stalls may
    /// overlap.
    public var meanInterval: Duration

    public init(length: ClosedRange<Duration>, meanInterval: Duration) {
        self.length = length
        self.meanInterval = meanInterval
    }
}

/// Applies `Stalls` to packets. Their times depend on the seed only, not on the packets.
struct StallProcess {
    private let gaps: Distribution
    private let lengths: Distribution
    private var generator: SeededRandom
    /// In nanoseconds since the link began.
    private var nextBeginning: Int64
    private var end: Int64 = 0

    init(_ stalls: Stalls, generator: SeededRandom) {
        gaps = .exponential(mean: max(stalls.meanInterval, .milliseconds(1)))
        lengths = .uniform(stalls.length)
        self.generator = generator
        nextBeginning = gaps.draw(from: &self.generator)
    }

    /// The time at which a packet sent at `time` travels on: `time` itself, or the end of the stall. Both are in
    /// nanoseconds since the link began; call it for packets in the order in which they are sent.
    mutating func release(ofPacketSentAt time: Int64) -> Int64 {
        // A Poisson process has no memory, so after a pause of hours it may restart instead of being simulated all the
        // way.
        if time - nextBeginning > hour { nextBeginning = time - hour }
        while nextBeginning <= time {
            end = max(end, nextBeginning + lengths.draw(from: &generator))
            nextBeginning += gaps.draw(from: &generator)
        }
        return max(time, end)
    }
}

private let hour: Int64 = 3_600_000_000_000
