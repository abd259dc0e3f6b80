import TenfourAudioCore
import TenfourClocks
import Testing

struct PollTimeoutTests {
    private static let rounded: [(Duration, Int32)] = [
        (.nanoseconds(1), 1), (.microseconds(999), 1), (.milliseconds(1), 1), (.nanoseconds(1_000_001), 2),
        (.milliseconds(20), 20), (.seconds(1), 1_000),
    ]

    @Test(arguments: rounded) func theTimeIsRoundedUp(_ left: Duration, _ milliseconds: Int32) {
        #expect(PollTimeout.milliseconds(in: left) == milliseconds)
    }

    @Test(arguments: [Duration.zero, .nanoseconds(-1), .seconds(-3), .seconds(Int64.min)])
    func nothingIsLeftAfterTheDeadline(_ left: Duration) { #expect(PollTimeout.milliseconds(in: left) == 0) }

    @Test func theLimitBoundsTheTime() {
        #expect(PollTimeout.milliseconds(in: .seconds(61), atMost: 60_000) == 60_000)
        #expect(PollTimeout.milliseconds(in: .milliseconds(59_999), atMost: 60_000) == 59_999)
        #expect(PollTimeout.milliseconds(in: .seconds(Int64.max)) == .max)
    }

    @Test func noDeadlineMeansNoLimit() {
        #expect(PollTimeout.milliseconds(in: nil, atMost: 5) == -1)
        #expect(PollTimeout.milliseconds(until: nil, atMost: 5) == -1)
    }

    @Test func aDeadlineIsSeenFromThePresent() {
        let now = MonotonicClock.now
        #expect(PollTimeout.milliseconds(until: now) == 0)
        #expect((3_000_000...3_600_000).contains(PollTimeout.milliseconds(until: now + .seconds(3_600))))
    }
}
