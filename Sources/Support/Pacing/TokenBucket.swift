package import TenfourAudioCore

/// A token bucket that can run into debt and change its rate: `perSecond` tokens are added each second, up to a
/// maximum.
package struct TokenBucket: Hashable, Sendable {
    /// The present number of tokens; negative while the bucket is in debt.
    package private(set) var left: Double
    package var perSecond: Double
    package let most: Double
    private var last: Instant?

    /// Creates a bucket that initially contains `share` (0…1) of the maximum number of tokens, `most`.
    package init(perSecond: Double, most: Double, share: Double = 1) {
        self.perSecond = perSecond
        self.most = most
        left = most * share
    }

    /// Spends `amount` and returns true; returns false and spends nothing if fewer tokens are left.
    package mutating func spend(_ amount: Double, at now: Instant) -> Bool {
        earn(at: now)
        guard amount <= left else { return false }
        left -= amount
        return true
    }

    /// Spends `amount` even if fewer tokens are left. The debt is limited to the maximum number of tokens.
    package mutating func charge(_ amount: Double, at now: Instant) {
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
