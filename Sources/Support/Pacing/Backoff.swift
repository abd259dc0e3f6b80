/// Pauses between attempts: each twice as long as the one before, up to a maximum, times a random factor.
package struct Backoff: Hashable, Sendable {
    /// How many pauses there were since the last success.
    package private(set) var count = 0
    private let first: Duration
    private let longest: Duration
    private let spread: ClosedRange<Double>

    /// `spread` are the least and the greatest random factor: clients that failed together do not try again together.
    package init(first: Duration, longest: Duration, spread: ClosedRange<Double> = 1...1) {
        self.first = first
        self.longest = longest
        self.spread = spread
    }

    /// The next pause.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let pause = min(first * (1 << min(count, 20)), longest)
        count += 1
        return pause * Double.random(in: spread, using: &generator)
    }

    /// An attempt has succeeded: the next pause is the first one again.
    package mutating func succeeded() { count = 0 }
}
