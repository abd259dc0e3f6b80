import TenfourAudioCore
import Testing

@testable import TenfourRelayCore

struct ChannelDeadlinesTests {
    private var deadlines = ChannelDeadlines()
    private let first = ChannelIndex(1)
    private let second = ChannelIndex(2)

    private func time(_ milliseconds: Int) -> Instant { .start + Duration.milliseconds(milliseconds) }

    @Test mutating func theEarliestChannelIsDueFirst() {
        deadlines.expect(second, at: time(30))
        deadlines.expect(first, at: time(50))
        deadlines.expect(first, at: time(40))
        deadlines.expect(first, at: time(60))
        #expect(deadlines.next == time(30))
        let (early, late) = (deadlines.takeDue(at: time(29)), deadlines.takeDue(at: time(30)))
        #expect(early.isEmpty && late == [second])
        #expect(deadlines.next == time(40) && deadlines.contains(first) && !deadlines.contains(second))
        let last = deadlines.takeDue(at: time(100))
        #expect(last == [first] && deadlines.next == nil)
    }

    /// A channel that stays due does not make the relay's loop spin.
    @Test mutating func channelsArePolledAtMostAHundredTimesASecond() {
        deadlines.expect(first, at: time(0))
        var polls = 0
        for now in 0..<1_000 {
            for channel in deadlines.takeDue(at: time(now)) {
                polls += 1
                deadlines.expectAgain(channel, at: time(now), after: time(now))
            }
        }
        #expect(polls == 100)
    }

    /// A poll takes all channels that are due by then.
    @Test mutating func aChannelThatIsDueSoonAfterAPollWaitsForTheNextOne() {
        deadlines.expect(first, at: time(0))
        deadlines.expect(second, at: time(3))
        let taken = deadlines.takeDue(at: time(0))
        #expect(taken == [first] && deadlines.next == time(10))
        deadlines.expect(first, at: time(4))
        #expect(deadlines.next == time(4), "what is new is not held up")
        let rest = deadlines.takeDue(at: time(4))
        #expect(rest == [first, second] && deadlines.next == nil)
    }
}
