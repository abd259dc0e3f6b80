import Engine
import Sound
import Support
import Synchronization
import Testing

@testable import Radio

/// How often.
private final class Asked: Sendable {
    let number = Atomic(0)
}

struct RelayFinderTests {
    private static let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)

    @Test func aNameIsAskedForAgainWhileItsRelayDoesNotAnswer() {
        let count = Asked()
        let finder = RelayFinder("radio.example.org", port: 5_004, at: .start) { host, port in
            count.number.add(1, ordering: .relaxed)
            return host == "radio.example.org" && port == 5_004 ? [Self.endpoint] : nil
        }
        #expect(finder.look(isJoined: true, at: .start + .seconds(100)) == nil)
        #expect(finder.look(isJoined: false, at: .start + .seconds(29)) == nil)
        #expect(count.number.load(ordering: .relaxed) == 0)
        #expect(finder.look(isJoined: false, at: .start + .seconds(31)) == nil)
        var answer: [Endpoint]?
        #expect(
            waiting {
                answer = finder.look(isJoined: false, at: .start + .seconds(32))
                return answer != nil
            })
        #expect(answer == [Self.endpoint])
        #expect(finder.look(isJoined: false, at: .start + .seconds(60)) == nil)
        #expect(count.number.load(ordering: .relaxed) == 1)
    }

    @Test func aNameThatNobodyKnowsIsAskedForAgain() {
        let count = Asked()
        let finder = RelayFinder("radio.example.org", port: 5_004, at: .start) { _, _ in
            count.number.add(1, ordering: .relaxed)
            return nil
        }
        var now = Instant.start
        #expect(
            waiting {
                now = now + .seconds(1)
                return finder.look(isJoined: false, at: now) != nil || count.number.load(ordering: .relaxed) == 2
            })
        #expect(count.number.load(ordering: .relaxed) == 2)
    }
}
