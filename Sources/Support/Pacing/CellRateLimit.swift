package import TenfourAudioCore

/// A rate limit in eight bytes (the generic cell rate algorithm of ITU-T I.371). Its only state is the theoretical
/// arrival time, at which the whole burst is available again.
///
/// A relay has three for each member. `TokenBucket`, which can run into debt and change its rate, is six times as
/// large.
package struct CellRateLimit: Sendable {
    /// The theoretical arrival time, in nanoseconds: the time at which the whole burst is available again.
    @usableFromInline var paid = Int64.min

    @inlinable package init() {}

    /// Spends `cost` and returns true. If less than `cost` is available, spends nothing and returns false. `most` is
    /// the largest amount that can accumulate. `cost`, `most` and `now` are in nanoseconds, or in another unit that all
    /// three share.
    @inlinable package mutating func spend(_ cost: Int64, most: Int64, at now: Int64) -> Bool {
        let owed = paid > now ? paid - now : 0
        guard owed <= most - cost else { return false }
        paid = now + owed + cost
        return true
    }

    /// Spends the price of `count` events and returns true. If less is available, spends nothing and returns false.
    @inlinable package mutating func spend(_ price: Price, count: Int = 1, at now: Instant) -> Bool {
        spend(price.cost * Int64(count), most: price.most, at: now.nanoseconds)
    }

    /// Returns the earliest time at which `count` events are allowed, if no other event is counted before.
    package func moment(for count: Int, of price: Price) -> Instant {
        paid == .min ? .start : Instant(nanoseconds: paid - price.most + price.cost * Int64(count))
    }

    /// Gives back the price of one event that was spent, because the event turned out to need no limit.
    package mutating func giveBack(_ price: Price) { if paid > price.cost { paid -= price.cost } }

    /// Whether one event is allowed at `now`.
    package func allows(_ price: Price, at now: Instant) -> Bool {
        paid <= now.nanoseconds || paid - now.nanoseconds <= price.most - price.cost
    }

    /// The time at which the whole burst is available again (the theoretical arrival time of the GCRA), in nanoseconds;
    /// only for comparing two limits.
    package var moment: Int64 { paid }

    /// The cost of one event, and the largest amount that can accumulate, in nanoseconds.
    package struct Price: Sendable {
        package var cost: Int64
        package var most: Int64

        /// Creates the price for `count` events a second, with bursts of at most `most` events.
        package init(perSecond count: Double, most: Double) {
            cost = Int64(1e9 / max(count, 1e-3))
            self.most = Int64(Double(cost) * max(most, 1))
        }
    }
}
