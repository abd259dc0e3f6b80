/// The delay before a broken connection is retried: 250 ms, doubled each time, at most 30 s.
struct RetryDelay {
    /// Attempts since data last arrived.
    private(set) var attempt = 0

    static let shortest = Duration.milliseconds(250)
    static let longest = Duration.seconds(30)

    mutating func next() -> Duration {
        attempt += 1
        // 250 ms, 500 ms, … 16 s, 30 s.
        return attempt > 7 ? Self.longest : min(Self.shortest * (1 << (attempt - 1)), Self.longest)
    }

    mutating func reset() { attempt = 0 }
}
