import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Hours of kills, restarts, partitions and losses on a simulated clock.
struct ChaosTests {
    /// The hours that a test simulates. Tools/test --long simulates 24.
    private static let hours = Double(ProcessInfo.processInfo.environment["TENFOUR_CLUSTER_HOURS"] ?? "") ?? 0.5

    @Test(arguments: [1, 2, 3] as [UInt64])
    func nobodyHearsAPacketTwiceAndNoChannelIsStuck(seed: UInt64) {
        var chaos = Chaos(seed: seed)
        let rounds = Int(Self.hours * 60 / 3)
        for _ in 0..<rounds { chaos.playMinute() }
        #expect(chaos.repeatedCount == 0)
        #expect(chaos.stuckCount == 0)
        #expect(chaos.heardCount > rounds)
    }
}

/// A talker at each relay, who joins another one when its relay is killed.
private struct Chaos {
    let family = ChannelKeys.drawn("family")
    let cluster: SimulatedCluster
    var members: [SimulatedMember] = []
    /// The relay of each member.
    var homes = [0, 1, 2]
    private var relays: [ClusterNode?] = []
    /// The packets that each member has heard in this minute.
    private var seen: [Endpoint: Set<UInt128>] = [:]
    var randomness: SeededRandom
    var repeatedCount = 0
    var stuckCount = 0
    var heardCount = 0

    init(seed: UInt64) {
        randomness = SeededRandom(seed: seed)
        cluster = SimulatedCluster(3, [family], seed: seed)
        cluster.logs = false
        cluster.run(.seconds(1))
        for number in 0..<3 {
            let member = SimulatedMember(family, .talk, at: .host(number + 1))
            members.append(member)
            member.join(cluster.node(number).room)
            relays.append(cluster.node(number))
        }
    }

    /// Half a minute of disorder, then half a minute in which everything must come back.
    mutating func playMinute() {
        cluster.delay = 100...Int.random(in: 200...80_000, using: &randomness)
        cluster.loss = Double.random(in: 0...0.1, using: &randomness)
        for _ in 0..<15 {
            disturb()
            talk(.seconds(2))
        }
        cluster.delay = 200...400
        cluster.loss = 0
        cluster.partitions = []
        for number in 0..<3 where cluster.nodes[number] == nil { cluster.start(number) }
        talk(.seconds(30))
        check()
    }

    private mutating func disturb() {
        let number = Int.random(in: 0..<3, using: &randomness)
        switch Int.random(in: 0..<6, using: &randomness) {
        case 0:
            if cluster.nodes.count(where: { $0 != nil }) > 1, cluster.nodes[number] != nil { cluster.kill(number) }
        case 1: if cluster.nodes[number] == nil { cluster.start(number) }
        case 2: cluster.partitions.insert([number, (number + 1) % 3])
        case 3: cluster.partitions = []
        default: break
        }
    }

    /// Each member sends a few packets, renews its lease, and looks for a relay if it has none.
    private mutating func talk(_ duration: Duration) {
        for _ in 0..<4 {
            for (index, member) in members.enumerated() {
                if let node = cluster.nodes[homes[index]], node === relays[index] {
                    member.renew(node.room)
                    member.announce(node.room)
                    member.talk(node.room)
                } else if let next = cluster.nodes.firstIndex(where: { $0 != nil }) {
                    homes[index] = next
                    relays[index] = cluster.node(next)
                    member.join(cluster.node(next).room)
                }
            }
            cluster.run(duration / 4)
            tally()
        }
    }

    /// Counts what members have heard since the last time.
    private mutating func tally() {
        for case .some(let node) in cluster.nodes {
            for (endpoint, heard) in node.heard {
                for packet in heard where packet[0] >= 128 {
                    heardCount += 1
                    let header = packet.prefix(12).reduce(0) { $0 << 8 | UInt128($1) }
                    if !seen[endpoint, default: []].insert(header).inserted { repeatedCount += 1 }
                }
            }
            node.heard = [:]
        }
    }

    /// After healing everybody hears everybody, and all relays know all others and count all members.
    private mutating func check() {
        for case .some(let node) in cluster.nodes {
            if node.cluster.status.relayCount != 2 { stuckCount += 1 }
            let channel = node.room.relay.status.channels[0]
            if channel.memberCount > 0, channel.memberCount + channel.remoteMemberCount != 3 { stuckCount += 1 }
        }
        for (index, member) in members.enumerated() {
            guard let home = cluster.nodes[homes[index]] else { continue }
            let packet = member.packet()
            home.room.receive(member.tagged(packet), from: member.endpoint)
            cluster.run(.milliseconds(100))
            for (other, listener) in members.enumerated() where other != index {
                let heard = cluster.nodes[homes[other]]?.packets(listener.endpoint) ?? []
                if !heard.contains(packet) { stuckCount += 1 }
            }
            tally()
        }
        seen = [:]
    }
}
