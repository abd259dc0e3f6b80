internal import TenfourAudioCore

/// So much a second, saved up to a limit: what is spent beyond it is refused.
///
/// Each thing spent costs time that it takes to earn; all that is kept is the moment when nothing will be owed any more. A relay
/// has three for each member: the Engine's, which can run into debt and change its rate, is six times as large.
struct CellRateLimit: Sendable {
    private var paid = Int64.min

    /// Whether so much may be spent: `cost` nanoseconds, of at most `most` that can be saved. Then it is spent.
    mutating func spend(_ cost: Int64, most: Int64, at now: Int64) -> Bool {
        let owed = paid > now ? paid - now : 0
        guard owed <= most - cost else { return false }
        paid = now + owed + cost
        return true
    }

    mutating func spend(_ price: Price, count: Int = 1, at now: Instant) -> Bool {
        spend(price.cost * Int64(count), most: price.most, at: now.nanoseconds)
    }

    /// When `count` can be spent at the earliest, if nothing is spent before.
    func moment(for count: Int, of price: Price) -> Instant {
        paid == .min ? .start : Instant(nanoseconds: paid - price.most + price.cost * Int64(count))
    }

    /// What was spent for nothing is earned again; never more than there is without spending.
    mutating func giveBack(_ price: Price) { if paid > price.cost { paid -= price.cost } }

    /// Whether so much could be spent.
    func allows(_ price: Price, at now: Instant) -> Bool {
        paid <= now.nanoseconds || paid - now.nanoseconds <= price.most - price.cost
    }

    /// Whether all is paid: it is as if nothing had ever been spent.
    func isFull(at now: Instant) -> Bool { paid <= now.nanoseconds }

    /// When nothing is owed, for comparison only.
    var moment: Int64 { paid }

    /// What one thing costs, and how much can be saved up, in nanoseconds.
    struct Price: Sendable {
        var cost: Int64
        var most: Int64

        /// `count` a second, and at most so many at once.
        init(perSecond count: Double, most: Double) {
            cost = Int64(1e9 / max(count, 1e-3))
            self.most = Int64(Double(cost) * max(most, 1))
        }
    }
}
