import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourRelayCore

struct TalkerRegistryTests {
    private func talker(_ member: MemberID) -> Talker {
        var generator = CSPRNG()
        let keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        let harness = RelayHarness([keys])
        let member = (member, SimulatedMember(keys, .talk, at: .host(1)))
        _ = member.1.join(harness)
        return Talker(member.0, member.1.session!.hopTagChecker(for: .relay), RelayLimits())
    }

    @Test func anIndexThatIsFreeIsUsedAgain() {
        var registry = TalkerRegistry()
        let (first, second) = (registry.insert(talker(5)), registry.insert(talker(6)))
        registry.remove(first)
        #expect(registry[first] == nil)
        #expect(registry.insert(talker(7)) == first)
        #expect(registry[first]?.member == 7 && registry[second]?.member == 6)
    }

    @Test func aStreamThatEndsLeavesItsCounts() {
        var registry = TalkerRegistry()
        let index = registry.insert(talker(5))
        let stream = TalkerStream(SSRC(9), RelayLimits(), nil, at: .start)
        registry.begin(stream, of: index, at: .start)
        #expect(registry.talking == [index])
        #expect(registry.deadline == .start + TalkerStream.firstReport)
        let ended = [registry.endStream(of: index), registry.endStream(of: index)]
        #expect(ended == [true, false])
        #expect(registry.talking.isEmpty && registry[index]?.counts != nil)
        registry.updateDeadline()
        #expect(registry.deadline == nil)
    }

    @Test func anSSRCIsFreeWhenAllHaveGivenItUp() {
        var registry = SSRCRegistry()
        registry.insert(SSRC(9), of: 1)
        registry.insert(SSRC(9), of: 2)
        registry.replace(1, by: 3, of: SSRC(9))
        #expect(registry[SSRC(9)] == [3, 2])
        registry.remove(SSRC(9), of: 2)
        registry.remove(SSRC(9), of: 3)
        #expect(registry[SSRC(9)] == nil)
    }
}
