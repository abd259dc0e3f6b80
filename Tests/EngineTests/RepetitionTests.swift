import BadLink
import Engine
import RTP
import Sound
import Support
import Testing

/// A station is a value: what it does follows from what it was told, and from nothing else.
struct RepetitionTests {
    @Test func aCopyDoesTheSameToTheByte() throws {
        var link = try talk(seed: 3)
        link.run(until: seconds(10))
        var copy = link
        link.run(until: seconds(60))
        copy.run(until: seconds(60))
        #expect(link.digest == copy.digest)
        #expect(link.left.sent == copy.left.sent)
        #expect(link.right.events == copy.right.events)
        #expect(link.right.heard == copy.right.heard)
    }

    @Test func theSameIdentityAndInputsGiveTheSameBytes() throws {
        var (first, second) = (try talk(seed: 3), try talk(seed: 3))
        first.run(until: seconds(60))
        second.run(until: seconds(60))
        #expect(first.digest == second.digest)
        var third = try talk(seed: 4)
        third.run(until: seconds(60))
        #expect(first.digest != third.digest)
    }

    @Test func whatACopyHearsTheOriginalDoesNot() {
        let listener = station()
        var copy = listener
        _ = copy.receive(media(SSRC(9)), from: alice, at: .start)
        #expect(listener.sources.isEmpty)
        #expect(copy.sources.count == 1)
    }

    @Test func chanceIsAnIdentity() {
        var dice = SeededGenerator(seed: 1)
        let identities = (0..<100).map { _ in Identity.random(wallClock: NTPTime(rawValue: 0), using: &dice) }
        #expect(Set(identities).count == 100)
        #expect(Set(identities.map(\.canonicalName)).count == 100)
        #expect(identities.allSatisfy { $0.canonicalName.count == 32 })
        #expect(identities.allSatisfy { $0.firstSequenceNumber.rawValue < 32_768 })
    }

    private func talk(seed: UInt64) throws -> SimulatedLink {
        let network = try #require(NetworkModel(named: "wifi-bad"))
        var link = SimulatedLink(
            left: station(9, StationConfiguration(remotes: [SimulatedLink.endpoint(1)], name: "left")),
            right: station(1), network: network, seed: seed)
        link.left.speech = Speech()
        return link
    }
}
