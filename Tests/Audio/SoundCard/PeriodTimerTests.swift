import Glibc
import TenfourAudioCore
import Testing

@testable import TenfourSoundCard

/// Tests that also hold on a slow machine: the timer is never early, and skips time only if it must.
@Suite struct PeriodTimerTests {
    @Test func theFirstAreDueAtOnceAndTheOthersInTheirTime() {
        var timer = PeriodTimer(rate: .opus)
        let clock = ContinuousClock()
        let start = clock.now
        let first = timer.wait(for: 480).due
        var due = first
        for tick in 1...10 {
            due = timer.wait(for: 480).due
            #expect(clock.now - start >= .milliseconds(10 * tick) - .microseconds(1))
        }
        #expect(due.nanoseconds >= first.nanoseconds + 100_000_000)
    }

    @Test func aShortDelayIsMadeUp() {
        var timer = PeriodTimer(rate: SampleRate(hertz: 44_100))
        let first = timer.wait(for: 441)
        usleep(50_000)
        let second = timer.wait(for: 441)
        // The second period is due ten milliseconds after the first, although this time has passed, unless the
        // machine stalled for 200 ms.
        if second.missed == .zero { #expect(second.due.nanoseconds == first.due.nanoseconds + 10_000_000) }
    }

    @Test func aLongDelayIsLetGoAndTold() {
        var timer = PeriodTimer(rate: SampleRate(hertz: 44_100))
        let first = timer.wait(for: 441)
        #expect(first.missed == .zero)
        usleep(300_000)
        let second = timer.wait(for: 441)
        let late = second.due.nanoseconds - (first.due.nanoseconds + 10_000_000)
        #expect(second.missed.rawValue >= 441 * 29 - 1)
        #expect(abs(Double(second.missed.rawValue) - Double(late) * 44_100 / 1e9) <= 1.1)
    }
}
