import Foundation
import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Members of three relays, which are processes, change over by themselves.
@Suite(.onItsOwnThread, .inRealTime, .serialized)
struct ClusterProcessTests {
    private let cluster: ClusterProcesses

    init() throws {
        cluster = try ClusterProcesses()
        cluster.add(.talk, orderingRelays: [0, 1, 2])
        cluster.add(.talk, orderingRelays: [1, 2, 0])
        cluster.add(.listen, orderingRelays: [2, 0, 1])
        cluster.talkers = [0, 1]
        try cluster.settle()
    }

    private func reached(_ relay: Int, insteadOf former: Int) -> ChannelEvent {
        .relayReached(cluster.endpoint(relay), insteadOf: cluster.endpoint(former), because: nil)
    }

    /// The changes of a member from one relay to another.
    private func changes(of member: Int) -> [ChannelEvent] {
        cluster.members[member].events.filter { if case .relayReached(_, .some, _) = $0 { true } else { false } }
    }

    /// The time within which a member hears again after the end of its relay. Two seconds are required, and a second is usual.
    private let limit: Duration = isLong ? .seconds(2) : .seconds(10)
    /// The longest gap at a member that stays where it is. 25 ms are usual.
    private let undisturbed = Duration.seconds(1)

    /// Ends relay 0, and checks that its member, a talker, hears and is heard again.
    private func checkChangeover(_ end: () -> Void) {
        let start = Clocks.now
        end()
        // Long enough to see that the members who stay are not disturbed later.
        cluster.run(.seconds(4))
        let since = Clocks.now
        cluster.run(limit) { cluster.everyoneHears(since: since) }
        let gap = cluster.longestGap(0, 1, since: start)
        let unheard = [1, 2].map { cluster.longestGap($0, 0, since: start) }
        print(
            "heard again after \(gap / .milliseconds(1)) ms, was heard after \(unheard.map { $0 / .milliseconds(1) })")
        #expect(gap < limit * sanitizerSlowdown)
        #expect(unheard.allSatisfy { $0 < limit * sanitizerSlowdown })
        #expect(changes(of: 0) == [reached(1, insteadOf: 0)])
        // The others stay where they are, and are not delayed.
        #expect(cluster.longestGap(2, 1, since: start) < undisturbed * sanitizerSlowdown)
        #expect(changes(of: 1).isEmpty && changes(of: 2).isEmpty)
        #expect(cluster.repeatedCount == 0)
        #expect(cluster.members.allSatisfy { $0.goodbyeCount == 0 })
    }

    @Test func membersOfAKilledRelayHearAgain() { checkChangeover { cluster.killRelay(0) } }

    /// The kernel takes the datagrams for the stopped process, and no ICMP comes.
    @Test func membersOfAStoppedRelayHearAgain() throws {
        checkChangeover { cluster.signalRelay(0, SIGSTOP) }
        // It finds LEAVE among all that has waited, and tells nobody that the talker has left.
        cluster.signalRelay(0, SIGCONT)
        let start = Clocks.now
        cluster.run(.seconds(2))
        #expect(cluster.longestGap(2, 0, since: start) < undisturbed * sanitizerSlowdown)
        #expect(cluster.members.allSatisfy { $0.goodbyeCount == 0 })
        #expect(cluster.repeatedCount == 0)
        #expect(cluster.members[0].channel.relay == cluster.endpoint(1))
    }

    @Test func withoutNATSNobodyChangesOverAndItComesBack() throws {
        cluster.add(.listen, orderingRelays: [0, 1, 2])
        try cluster.settle()
        let start = Clocks.now
        cluster.killNATS()
        cluster.run(.seconds(2))
        #expect(cluster.longestGap(3, 0, since: start) < undisturbed, "at the same relay")
        try cluster.startNATS()
        let since = Clocks.now
        #expect(cluster.run(.seconds(10)) { cluster.everyoneHears(since: since) })
        #expect(cluster.members.indices.allSatisfy { changes(of: $0).isEmpty })
        #expect(cluster.repeatedCount == 0)
    }

    /// Every half minute a relay or the nats-server is killed, and started again 1 to 5 s later.
    @Test(.enabled(if: isLong, "runs with Tools/test --long")) func tenMinutesWithTwentyKills() throws {
        var randomness = SeededRandom(seed: 17)
        var longestGap = Duration.zero
        for round in 0..<20 {
            let victim = Int.random(in: 0..<4, using: &randomness)
            let start = Clocks.now
            if victim < 3 { cluster.killRelay(victim) } else { cluster.killNATS() }
            cluster.run(.milliseconds(Int.random(in: 1_000...5_000, using: &randomness)))
            if victim < 3 { try cluster.startRelay(victim) } else { try cluster.startNATS() }
            let since = Clocks.now
            let isAlive = cluster.run(.seconds(10)) { cluster.everyoneHears(since: since) }
            #expect(isAlive, "in round \(round), after the end of \(victim)")
            // Only the end of nats-server parts the relays for longer than their members need.
            if victim < 3 {
                for (listener, talker) in [(0, 1), (1, 0), (2, 0), (2, 1)] {
                    longestGap = max(longestGap, cluster.longestGap(listener, talker, since: start))
                }
            }
            cluster.run(.seconds(30) - (Clocks.now - start))
            try cluster.settle()
        }
        let count = cluster.members.reduce(0) { $0 + $1.heard.count }
        print("heard \(count) packets; longest silence after the end of a relay \(longestGap / .milliseconds(1)) ms")
        #expect(longestGap < .seconds(2))
        #expect(cluster.repeatedCount == 0)
    }
}

private let isLong = ProcessInfo.processInfo.environment["TENFOUR_LONG"] != nil
