import Synchronization
import TenfourAudioCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRadio

/// Counts the name look-ups.
private final class Asked: Sendable {
    let number = Atomic(0)
}

struct HostTrackerTests {
    private static let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)

    @Test func aNameIsAskedForAgainWhileItsRelayDoesNotAnswer() {
        let count = Asked()
        let tracker = HostTracker(
            "radio.example.org", port: 5_004, every: .seconds(30), atMost: .seconds(30), at: .start
        ) { host, port in
            count.number.add(1, ordering: .relaxed)
            return host == "radio.example.org" && port == 5_004 ? [Self.endpoint] : nil
        }
        #expect(tracker.poll(isReached: true, at: .start + .seconds(100)) == nil)
        #expect(tracker.poll(isReached: false, at: .start + .seconds(29)) == nil)
        #expect(count.number.load(ordering: .relaxed) == 0)
        #expect(tracker.poll(isReached: false, at: .start + .seconds(31)) == nil)
        var answer: [Endpoint]?
        #expect(
            waiting {
                answer = tracker.poll(isReached: false, at: .start + .seconds(32))
                return answer != nil
            })
        #expect(answer == [Self.endpoint])
        #expect(tracker.poll(isReached: false, at: .start + .seconds(60)) == nil)
        #expect(count.number.load(ordering: .relaxed) == 1)
    }

    /// Look-ups are made after 10 s, then every 20, 40 and 60 s. The host is reached at 200 s and lost again at 201
    /// s, so the intervals start anew.
    @Test func aNameIsAskedForLessAndLessOftenUntilItsHostIsThere() {
        let tracker = HostTracker(
            "bob.example.org", port: 5_004, every: .seconds(10), atMost: .seconds(60), at: .start
        ) { _, _ in [] }
        var asked: [Int] = []
        for second in 1...240 {
            let now = Instant.start + .seconds(second)
            _ = tracker.poll(isReached: second == 200, at: now)
            guard tracker.lastLookup == now else { continue }
            asked.append(second)
            // The answer arrives on another thread and is used in the next second.
            #expect(waiting { tracker.isResponsive })
        }
        #expect(asked == [10, 30, 70, 130, 190, 201, 221])
    }

    @Test func aNameThatNobodyKnowsIsAskedForAgain() {
        let count = Asked()
        let tracker = HostTracker(
            "radio.example.org", port: 5_004, every: .seconds(30), atMost: .seconds(30), at: .start
        ) { _, _ in
            count.number.add(1, ordering: .relaxed)
            return nil
        }
        var now = Instant.start
        #expect(
            waiting {
                now = now + .seconds(1)
                return tracker.poll(isReached: false, at: now) != nil || count.number.load(ordering: .relaxed) == 2
            })
        #expect(count.number.load(ordering: .relaxed) == 2)
    }
}
