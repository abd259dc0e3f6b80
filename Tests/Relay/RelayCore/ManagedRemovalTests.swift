import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// The removal of a member of a large channel, at the relay itself: its cost and its duration.
struct ManagedRemovalTests {
    /// 1000 members, 5 of them asleep; the relay starts anew while the owner deposits. It takes many seconds in a debug build,
    /// because each member makes two handshakes and several keys.
    @Test func aMemberOfAThousandIsDeafAndMuteInTenSeconds() throws {
        let channel = ManagedStations(memberCount: 1_000)
        for index: UInt16 in 1...1_000 { #expect(channel.join(index)) }
        channel.run(for: .seconds(25))
        #expect(channel.holders.count == 1_001)
        let asleep: [UInt16] = [3, 99, 500, 777, 1_000]
        for index in asleep { channel.leave(index) }
        channel.forgetCosts()
        let start = channel.now
        let removed = try #require(channel.stations[17]?.member)
        channel.remove(17)
        channel.run(for: .seconds(1))
        #expect(channel.stations[17]?.isJoined ?? false, "the deposit is complete too early for this test")
        channel.restartRelay()
        channel.run(for: .seconds(1))
        for index: UInt16 in 0...1_000 where !asleep.contains(index) { #expect(channel.join(index)) }
        channel.run(for: start + .seconds(10) - channel.now)

        let left = try #require(channel.stations[17])
        #expect(left.state.isRemoved && left.state.secret == nil && !left.isJoined)
        #expect(removed.talk(channel.room) == .discarded(.strangerMedia))
        #expect(!channel.join(17))
        let awake = Set(0...1_000).subtracting(asleep).subtracting([17])
        #expect(channel.holders == awake)
        #expect(channel.stations[0]?.state.secret?.id.rosterVersion == 2)
        let costs = awake.subtracting([0]).map { channel.stations[$0]?.byteCount ?? 0 }
        #expect(costs.max() ?? 0 <= 400 && costs.min() ?? 0 > 0, "\(costs.max() ?? 0) bytes")
        let memory = channel.highestByteCount / 1_001
        #expect(memory <= 512 && memory > 200, "\(memory) bytes a member")

        for index in asleep { #expect(channel.join(index)) }
        channel.run(for: .seconds(1))
        #expect(channel.holders == awake.union(asleep))
    }
}
