import CAllocations
import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourRelayCore
import TestSupport
import Testing

/// The memory of a relay after many have joined and have gone.
struct JoinMemoryTests {
    /// The members of a burst. Tools/test --long has 30 000 join in three bursts.
    private static let channelCount = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 1 : 10
    private static let channelMembers = 1_000
    /// The growth that is allowed, for a burst of a thousand.
    private static let growth = 300_000

    /// Each member requests the floor once. Half of them leave; the leases of the others end.
    private func burst(_ number: Int, _ room: RelayHarness, _ channels: [ChannelKeys]) {
        var joinedCount = 0
        for (index, channel) in channels.enumerated() {
            for place in 0..<Self.channelMembers {
                let host = ((number * channels.count) + index) * Self.channelMembers + place
                let member = SimulatedMember(channel, .talk, at: .host(host))
                if member.join(room) { joinedCount += 1 }
                member.say(.floor(.request(number: 1, member.ssrc, .normal, waits: true, sends: false)), room)
                if place % 2 == 0 { member.say(.leave, room) }
                if place % 20 == 0 { room.run(.milliseconds(10)) }
                forget(room)
            }
        }
        #expect(joinedCount == channels.count * Self.channelMembers)
        // The relay remembers cookies that were used for two minutes at most.
        for _ in 0..<200 {
            room.run(.seconds(1))
            forget(room)
        }
        #expect(room.relay.status.channels.allSatisfy { $0.memberCount == 0 })
    }

    private func forget(_ room: RelayHarness) { (room.inbox, room.events) = ([:], []) }

    @Test func afterThreeBurstsOfJoinsTheRelayHasTheMemoryOfOne() {
        let channels = (0..<Self.channelCount).map { ChannelKeys.drawn("\($0)", seed: UInt64($0)) }
        var configuration = RelayConfiguration(channels)
        for index in configuration.channels.indices {
            configuration.channels[index].floor = FloorArbiter.Configuration()
        }
        let room = RelayHarness(configuration)
        var sizes = [bytes_of_this_thread()]
        for number in 0..<3 {
            burst(number, room, channels)
            sizes.append(bytes_of_this_thread())
        }
        #expect(sizes[3] - sizes[1] < Self.growth * Self.channelCount, "\(sizes)")
        let kilobytes = sizes.dropFirst().map { ($0 - sizes[0]) / 1_000 }
        print("after each burst of \(channels.count * Self.channelMembers) joins the relay holds \(kilobytes) kB more")
    }
}
