import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// One host cannot take resources from other hosts.
struct HostTests {
    private let family = ChannelKeys.drawn("family")

    /// Returns members that share one address, with ports from 1 to `count`.
    private func members(_ count: Int, seed: UInt64 = 99) -> [SimulatedMember] {
        (1...count).map { SimulatedMember(family, .listen, at: .host(1, port: UInt16($0)), seed: seed) }
    }

    @Test func anUnconfirmedSessionEvictsNobody() {
        var limits = RelayLimits()
        limits.channelMembers = 6
        limits.members = 6
        let room = RelayHarness([family], limits: limits)
        for ghost in members(200) { ghost.knock(room) }
        for number in 2..<6 { #expect(SimulatedMember(family, .listen, at: .host(number)).join(room)) }
        // When the channel is full, unconfirmed sessions are refused.
        let late = members(201)[200]
        guard case .refusal(.full) = late.knock(room) else {
            Issue.record("joined although it must be refused")
            return
        }
    }

    @Test func aThousandOfAHostWaitAtATime() {
        let room = RelayHarness([family], limits: .wide)
        let ghosts = members(1_001)
        for ghost in ghosts.dropLast() { ghost.knock(room) }
        guard case .refusal(.limited) = ghosts[1_000].knock(room) else {
            Issue.record("joined although it must be refused")
            return
        }
        #expect(room.relay.status.discards[.tooManyJoins] == 1)
        #expect(SimulatedMember(family, .listen, at: .host(2)).join(room))
        // A confirmed session no longer counts as waiting, and neither does one that has timed out.
        ghosts[0].renew(room)
        #expect(SimulatedMember(family, .listen, at: .host(1, port: 2_000)).join(room))
        room.run(.seconds(4))
        for ghost in members(900, seed: 5) { #expect(ghost.join(room)) }
    }

    @Test func twoThousandJoinsOfAHostAreSavedAndThenTwoHundredASecond() {
        let room = RelayHarness([family], limits: .wide)
        let joined = { (count: Int, seed: UInt64) in
            (1...count).count {
                SimulatedMember(family, .listen, at: .host(1, port: UInt16($0)), seed: seed).join(room)
            }
        }
        #expect(joined(2_100, 1) == 2_000)
        room.run(.seconds(1))
        #expect(joined(300, 2) == 200)
        #expect(SimulatedMember(family, .listen, at: .host(2)).join(room))
    }

    @Test func fiveHundredBehindOneAddressComeBackTogether() {
        let room = RelayHarness([family], limits: .wide)
        for seed: UInt64 in 1...3 {
            let all = members(500, seed: seed)
            for member in all { member.knock(room) }
            for member in all { #expect(member.renew(room) == .handled) }
        }
        #expect(room.relay.status.channels[0].memberCount == 500)
    }

    /// A HELLO uses up credit, which is returned only when a session is confirmed.
    @Test func aSilentSessionHasSpentItsHellos() {
        let room = RelayHarness([family], limits: .wide)
        for round in 0..<4 {
            for ghost in members(500, seed: UInt64(round)) { ghost.knock(room) }
            room.run(.seconds(4))
        }
        // Meanwhile the host has earned credit for twenty HELLOs a second over 16 s.
        let ghosts = members(400, seed: 77)
        for ghost in ghosts { ghost.knock(room) }
        #expect(room.relay.status.discards[.tooManyHandshakes] > 50)
    }
}
