import Testing

@testable import TenfourSoundCard

private let millisecond: Int64 = 1_000_000
private let second: Int64 = 1_000_000_000

@Suite struct CardTimingTests {
    @Test func framesAndNanosecondsMeet() {
        #expect(nanoseconds(480, at: 48_000) == 10 * millisecond)
        #expect(frames(in: 10 * millisecond, at: 44_100) == 441)
        #expect(frames(in: -10 * millisecond, at: 48_000) == -480)
        #expect(frames(in: 15_625, at: 48_000) == 1)
        #expect(frames(in: .max, at: 192_000) == 3_600 * 192_000)
        #expect(frames(in: .min, at: 192_000) == -3_600 * 192_000)
    }

    @Test func aCardThatMovesNowAndThenIsNotStuck() {
        var watch = StallDetector(period: 480, rate: 48_000)
        let looks = (0..<100).map { watch.isStalled(at: $0, now: Int64($0) * 490 * millisecond) }
        #expect(!looks.contains(true))
    }

    @Test func aCardThatStandsForHalfASecondIsStuck() {
        var watch = StallDetector(period: 480, rate: 48_000)
        _ = watch.isStalled(at: 480, now: 6 * second)
        let looks = [0, 500, 501].map { watch.isStalled(at: 960, now: 7 * second + $0 * millisecond) }
        #expect(looks == [false, false, true])
        watch.reset()
        let again = watch.isStalled(at: 960, now: 60 * second)
        #expect(!again)
    }

    @Test func longPeriodsAreWaitedForLonger() {
        var watch = StallDetector(period: 9_600, rate: 48_000)
        _ = watch.isStalled(at: -1, now: -millisecond)
        let looks = [0, 1_600, 1_601].map { watch.isStalled(at: 0, now: $0 * millisecond) }
        #expect(looks == [false, false, true])
    }

    /// PulseAudio's null sink takes the first audio up to 2 s after the start.
    @Test func aServerMayBeginLate() {
        var watch = StallDetector(period: 480, rate: 48_000)
        let looks = [0, 2_990, 3_001].map { watch.isStalled(at: 0, now: $0 * millisecond) }
        #expect(looks == [false, false, true] && watch.isStarting)
        // An underrun before the first movement begins a new start.
        watch.reset()
        _ = watch.isStalled(at: 2_408, now: 5 * second)
        #expect(watch.isStarting)
        _ = watch.isStalled(at: 2_648, now: 6 * second)
        #expect(!watch.isStarting)
        let isStalled = watch.isStalled(at: 2_648, now: 6 * second + 501 * millisecond)
        #expect(isStalled)
    }

    @Test func aCardThreeHundredMillionthsFastIsStillAClock() {
        var watch = FreeRunDetector(buffer: 1_920, rate: 48_000)
        let looks = (0..<360_000).map { tick in
            watch.isFreeRunning(at: tick * 480 + tick * 480 * 3 / 10_000, now: Int64(tick) * 10 * millisecond)
        }
        #expect(!looks.contains(true))
    }

    @Test func aPCMThatTakesEverythingIsNoClock() {
        var watch = FreeRunDetector(buffer: 1_920, rate: 48_000)
        var taken = 0
        while !watch.isFreeRunning(at: taken, now: 5 * second) { taken += 480 }
        #expect(taken > 48_000 / 4)
        #expect(taken < 48_000 / 2)
    }

    @Test func theFreeClockKeepsItsRateForEver() {
        var clock = FreeRunningClock(rate: 44_100, now: 3 * second)
        let missed = (0..<100_000).map { _ in clock.pass(441, now: clock.due(441)) }
        #expect(missed.allSatisfy { $0 == 0 })
        #expect(clock.due(0) == 1_003 * second)
    }

    @Test func theFreeClockCatchesUpWithAShortAbsenceAndForgetsALongOne() {
        var clock = FreeRunningClock(rate: 48_000, now: 0)
        let short = clock.pass(480, now: 900 * millisecond)
        #expect(short == 0)
        #expect(clock.due(480) == 20 * millisecond)
        let long = clock.pass(480, now: 10 * second + 20 * millisecond)
        #expect(long == 480_000)
        #expect(clock.due(480) == 10 * second + 30 * millisecond)
    }

    @Test func aLostCardIsLookedForEachThreeQuartersOfASecond() {
        var backoff = CardReopeningSchedule(now: 0)
        var (now, pauses): (Int64, [Int64]) = (0, [])
        for _ in 0..<7 {
            pauses.append(backoff.nextAttempt - now)
            now = backoff.nextAttempt
            backoff.failed(now: now)
        }
        #expect(pauses.map { $0 / millisecond } == [250, 500, 750, 750, 750, 750, 750])
    }

    @Test func aCardIsLookedForOneAttemptAtATime() {
        var backoff = CardReopeningSchedule(now: 0)
        let steps = [
            backoff.step(.failed, now: 249 * millisecond), backoff.step(.failed, now: 250 * millisecond),
            backoff.step(.opening, now: 300 * millisecond), backoff.step(.failed, now: 400 * millisecond),
            backoff.step(.failed, now: 899 * millisecond), backoff.step(.failed, now: 900 * millisecond),
            backoff.step(.found, now: second),
        ]
        #expect(steps == [.wait, .begin, .wait, .wait, .wait, .begin, .take])
    }

    @Test func attemptsThatHangAreLeftToThemselvesFourTimes() {
        var backoff = CardReopeningSchedule(now: 0)
        let steps = (1...100).map { backoff.step(.opening, now: Int64($0) * second) }
        #expect(steps.first == .begin)
        #expect(steps.count { $0 == .abandon } == 4)
        #expect(!steps.dropFirst().contains(.begin))
    }
}
