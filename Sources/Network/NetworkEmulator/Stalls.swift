private import TenfourAudioCore

/// Spells in which nothing moves: packets sent in one wait for its end and then travel on together. What a busy radio
/// channel, a roaming station or a scheduler does to a stream.
public struct Stalls: Hashable, Sendable {
    /// Evenly between the bounds.
    public var length: ClosedRange<Duration>
    /// Between the beginnings of two stalls, on average (a Poisson process); at least a millisecond. Two may overlap.
    public var meanInterval: Duration

    public init(length: ClosedRange<Duration>, meanInterval: Duration) {
        self.length = length
        self.meanInterval = meanInterval
    }
}

/// `Stalls` at work. When they come depends on the seed alone and not on the packets.
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

    /// When a packet sent at `time` may travel on: `time` itself, or the end of the stall it fell into. Both in nanoseconds
    /// since the link began; packets are asked for in the order in which they are sent.
    mutating func release(ofPacketSentAt time: Int64) -> Int64 {
        // A Poisson process has no memory: after a pause of hours it may begin anew instead of being walked through.
        if time - nextBeginning > hour { nextBeginning = time - hour }
        while nextBeginning <= time {
            end = max(end, nextBeginning + lengths.draw(from: &generator))
            nextBeginning += gaps.draw(from: &generator)
        }
        return max(time, end)
    }
}

private let hour: Int64 = 3_600_000_000_000
