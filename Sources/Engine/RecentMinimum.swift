internal import Sound

/// The least of a number over the last five to ten seconds.
struct RecentMinimum: Hashable, Sendable {
    private var current: Int64?
    private var before: Int64?
    private var began = Instant.start

    private static let window = Duration.seconds(5)

    /// Nil before the first.
    var least: Int64? {
        guard let current else { return before }
        return before.map { min($0, current) } ?? current
    }

    mutating func insert(_ number: Int64, at now: Instant) {
        if current == nil || now - began >= Self.window || now < began {
            before = now - began >= Self.window * 2 ? nil : current
            current = number
            began = now
        }
        current = current.map { min($0, number) }
    }
}
