import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// What a station does follows from what it was told, and from nothing else.
struct RepetitionTests {
    @Test func theSameIdentityAndInputsGiveTheSameBytes() throws {
        let first = try talk(seed: 3)
        let second = try talk(seed: 3)
        first.run(until: seconds(60))
        for step in 1...600 { second.run(until: seconds(Double(step) / 10)) }
        #expect(first.digest == second.digest)
        #expect(first.left.sent == second.left.sent)
        #expect(first.right.events == second.right.events)
        #expect(first.right.heard == second.right.heard)
        let third = try talk(seed: 4)
        third.run(until: seconds(60))
        #expect(first.digest != third.digest)
    }

    @Test func chanceIsAnIdentity() {
        var randomness = SeededRandom(seed: 1)
        let identities = (0..<100).map { _ in Identity.random(wallClock: NTPTime(rawValue: 0), using: &randomness) }
        #expect(Set(identities).count == 100)
        #expect(Set(identities.map(\.canonicalName)).count == 100)
        #expect(identities.allSatisfy { $0.canonicalName.count == 32 })
        #expect(identities.allSatisfy { $0.firstSequenceNumber.rawValue < 32_768 })
    }

    private func talk(seed: UInt64) throws -> SimulatedLink {
        let network = try #require(NetworkModel(named: "wifi-bad"))
        let link = SimulatedLink(
            left: session(9, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)], name: "left")),
            right: session(1), network: network, seed: seed)
        link.left.speech = Speech()
        return link
    }
}
