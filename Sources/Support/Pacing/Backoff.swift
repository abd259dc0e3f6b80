/// Pauses between attempts: each twice as long as the previous one, up to a maximum, times a random factor.
package struct Backoff: Hashable, Sendable {
    /// The number of pauses since the last success.
    package private(set) var count = 0
    private let first: Duration
    private let longest: Duration
    private let spread: ClosedRange<Double>

    /// Creates a series of pauses from `first` to `longest`. `spread` is the range of the random factor, so that
    /// clients that failed at the same time do not retry at the same time.
    @_noAllocation @_noLocks
    package init(first: Duration, longest: Duration, spread: ClosedRange<Double> = 1...1) {
        self.first = first
        self.longest = longest
        self.spread = spread
    }

    /// Returns the next pause, multiplied by a random factor from the range `spread`.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        next() * Double.random(in: spread, using: &generator)
    }

    /// Returns the next pause without a random factor.
    package mutating func next() -> Duration {
        var pause = first
        for _ in 0..<count where pause < longest { pause += pause }
        count += 1
        return min(pause, longest)
    }

    /// Records that an attempt has succeeded: the next pause is the first one again.
    package mutating func succeeded() { count = 0 }
}
