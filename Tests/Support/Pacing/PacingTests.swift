import TenfourAudioCore
import TenfourPacing
import Testing

struct PacingTests {
    private struct Ones: RandomNumberGenerator {
        mutating func next() -> UInt64 { .max }
    }

    @Test func aBucketSavesUpToItsMaximum() {
        var bucket = TokenBucket(perSecond: 10, most: 5)
        var count = 0
        while bucket.spend(1, at: .start) { count += 1 }
        #expect(count == 5)
        for (milliseconds, isAllowed) in [(50, false), (101, true), (110, false)] {
            let spent = bucket.spend(1, at: .start + .milliseconds(milliseconds))
            #expect(spent == isAllowed, "\(milliseconds)")
        }
        count = 0
        while bucket.spend(1, at: .start + .seconds(3_600)) { count += 1 }
        #expect(count == 5)
    }

    @Test func aDebtIsPaidFirst() {
        var bucket = TokenBucket(perSecond: 10, most: 5, share: 0)
        bucket.charge(100, at: .start)
        #expect(bucket.left == -5)
        let (early, late) = (
            bucket.spend(1, at: .start + .milliseconds(590)), bucket.spend(1, at: .start + .milliseconds(601))
        )
        #expect(!early && late)
    }

    @Test func aCellRateLimitAllowsItsRateAndNoMore() {
        let price = CellRateLimit.Price(perSecond: 10, most: 5)
        var limit = CellRateLimit()
        var count = 0
        while limit.spend(price, at: .start) { count += 1 }
        #expect(count == 5)
        #expect(!limit.allows(price, at: .start + .milliseconds(99)))
        #expect(limit.allows(price, at: .start + .milliseconds(100)))
        #expect(limit.moment(for: 2, of: price) == .start + .milliseconds(200))
        limit.giveBack(price)
        #expect(limit.allows(price, at: .start))
    }

    @Test func pausesDoubleUntilTheLongest() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(4))
        var ones = Ones()
        let pauses = (0..<4).map { _ in backoff.next(using: &ones) }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(4)])
        backoff.succeeded()
        #expect(backoff.next(using: &ones) == .seconds(1))
    }

    @Test func pausesWithoutASpreadAreExact() {
        var backoff = Backoff(first: .milliseconds(250), longest: .seconds(30))
        #expect((0..<10).map { _ in backoff.next() } == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        #expect(backoff.count == 10)
        backoff.succeeded()
        #expect(backoff.count == 0 && backoff.next() == .milliseconds(250))
        var endless = Backoff(first: .seconds(1), longest: .seconds(1 << 40))
        for _ in 0..<100 { _ = endless.next() }
        #expect(endless.next() == .seconds(1 << 40))
    }

    @Test func pausesAreSpread() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(4), spread: 0.5...1.5)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let pause = backoff.next(using: &generator)
            #expect(pause >= .milliseconds(500) && pause <= .seconds(6))
        }
    }
}
