package import TenfourAudioCore

/// So much a second, saved up to a limit: what is spent beyond it is refused.
package struct TokenBucket: Hashable, Sendable {
    package private(set) var left: Double
    package var perSecond: Double
    let most: Double
    private var last: Instant?

    /// `share` of the most is there at first.
    package init(perSecond: Double, most: Double, share: Double = 1) {
        self.perSecond = perSecond
        self.most = most
        left = most * share
    }

    /// Whether so much is left; then it is spent.
    package mutating func spend(_ amount: Double, at now: Instant) -> Bool {
        earn(at: now)
        guard amount <= left else { return false }
        left -= amount
        return true
    }

    /// Spends what cannot be refused, into debt if need be.
    mutating func charge(_ amount: Double, at now: Instant) {
        earn(at: now)
        left = max(left - amount, -most)
    }

    private mutating func earn(at now: Instant) {
        if let last, now > last {
            let seconds = Double(now.nanoseconds &- last.nanoseconds) / 1e9
            left = min(left + min(seconds, 3_600) * perSecond, most)
        }
        last = now
    }
}
