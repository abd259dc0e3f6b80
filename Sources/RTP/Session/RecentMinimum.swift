internal import TenfourAudioCore

/// The smallest value of a recent period. The period is one to two times `window` long; default: five to ten seconds.
struct RecentMinimum: Hashable, Sendable {
    private var current: Int64?
    private var before: Int64?
    private var began = Instant.start

    private let window: Duration

    init(window: Duration = .seconds(5)) { self.window = window }

    /// The smallest value; nil before the first.
    var least: Int64? {
        guard let current else { return before }
        return before.map { min($0, current) } ?? current
    }

    mutating func insert(_ number: Int64, at now: Instant) {
        if current == nil || now - began >= window || now < began {
            before = now - began >= window * 2 ? nil : current
            current = number
            began = now
        }
        current = current.map { min($0, number) }
    }
}
