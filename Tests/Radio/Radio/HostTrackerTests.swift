import Synchronization
import TenfourAudioCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRadio

/// Counts the questions.
private final class Asked: Sendable {
    let number = Atomic(0)
}

struct HostFinderTests {
    private static let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)

    @Test func aNameIsAskedForAgainWhileItsRelayDoesNotAnswer() {
        let count = Asked()
        let finder = HostTracker(
            "radio.example.org", port: 5_004, every: .seconds(30), atMost: .seconds(30), at: .start
        ) { host, port in
            count.number.add(1, ordering: .relaxed)
            return host == "radio.example.org" && port == 5_004 ? [Self.endpoint] : nil
        }
        #expect(finder.look(isReached: true, at: .start + .seconds(100)) == nil)
        #expect(finder.look(isReached: false, at: .start + .seconds(29)) == nil)
        #expect(count.number.load(ordering: .relaxed) == 0)
        #expect(finder.look(isReached: false, at: .start + .seconds(31)) == nil)
        var answer: [Endpoint]?
        #expect(
            waiting {
                answer = finder.look(isReached: false, at: .start + .seconds(32))
                return answer != nil
            })
        #expect(answer == [Self.endpoint])
        #expect(finder.look(isReached: false, at: .start + .seconds(60)) == nil)
        #expect(count.number.load(ordering: .relaxed) == 1)
    }

    /// After 10 s, then 20, 40 and 60, and again after 10 when the host was there in between.
    @Test func aNameIsAskedForLessAndLessOftenUntilItsHostIsThere() {
        let count = Asked()
        let finder = HostTracker(
            "bob.example.org", port: 5_004, every: .seconds(10), atMost: .seconds(60), at: .start
        ) { _, _ in
            count.number.add(1, ordering: .relaxed)
            return []
        }
        var asked: [Int] = []
        for second in 1...240 {
            let now = Instant.start + .seconds(second)
            let before = count.number.load(ordering: .relaxed)
            _ = finder.look(isReached: second == 200, at: now)
            // Each asking has a thread of its own, and its answer is taken before the next second.
            let isAsked = [10, 30, 70, 130, 190, 210, 230].contains(second)
            if isAsked {
                #expect(waiting { count.number.load(ordering: .relaxed) == before + 1 }, "second \(second)")
                #expect(waiting { finder.isResponsive })
            }
            if count.number.load(ordering: .relaxed) > before { asked.append(second) }
        }
        #expect(asked == [10, 30, 70, 130, 190, 210, 230])
    }

    @Test func aNameThatNobodyKnowsIsAskedForAgain() {
        let count = Asked()
        let finder = HostTracker(
            "radio.example.org", port: 5_004, every: .seconds(30), atMost: .seconds(30), at: .start
        ) { _, _ in
            count.number.add(1, ordering: .relaxed)
            return nil
        }
        var now = Instant.start
        #expect(
            waiting {
                now = now + .seconds(1)
                return finder.look(isReached: false, at: now) != nil || count.number.load(ordering: .relaxed) == 2
            })
        #expect(count.number.load(ordering: .relaxed) == 2)
    }
}
