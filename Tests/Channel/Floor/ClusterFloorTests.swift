import Foundation
import TenfourAudioCore
import TenfourFloor
import TenfourPackets
import TenfourSeededRandom
import Testing

/// One relay of a cluster arbitrates for a channel.
struct ClusterFloorTests {
    @Test func theLowestRelayArbitratesForAll() {
        let cluster = SimulatedFloorCluster(3, members: 2, seed: 1)
        cluster.run(for: .seconds(1))
        #expect(cluster.leaders == [1])
        cluster.press(302)
        cluster.run(for: .milliseconds(100))
        #expect(cluster.sending == [302])
        #expect(cluster.takeEvents(201).last == .taken(by: SSRC(302), .normal))
        cluster.press(101, waits: true)
        cluster.press(201, waits: true)
        cluster.run(for: .seconds(3))
        #expect(cluster[201].state == .queued(position: 2, size: 2))
        cluster.release(302)
        cluster.run(for: .milliseconds(100))
        #expect(cluster.sending == [101])
        cluster.release(101)
        cluster.run(for: .milliseconds(100))
        #expect(cluster.sending == [201])
    }

    @Test func aWorkingLeaderStaysWhenALowerRelayGetsMembers() {
        let cluster = SimulatedFloorCluster(2, members: 1, seed: 2)
        cluster.empty(1)
        cluster.run(for: .seconds(1))
        #expect(cluster.leaders == [2])
        cluster.press(201)
        cluster.join(1, 1)
        cluster.run(for: .seconds(3))
        #expect(cluster.leaders == [2])
        #expect(cluster.sending == [201])
    }

    @Test func theTalkerGoesOnWhenItsArbiterIsGone() {
        let cluster = SimulatedFloorCluster(2, members: 2, seed: 3)
        cluster.run(for: .seconds(1))
        cluster.press(201)
        cluster.run(for: .seconds(1))
        #expect(cluster.sending == [201])
        cluster.kill(1)
        cluster.press(202)
        cluster.run(for: .milliseconds(600))
        #expect(cluster.sending == [])
        cluster.run(for: .milliseconds(1_900))
        #expect(cluster.leaders == [2])
        #expect(cluster.sending == [201])
        #expect(cluster.takeEvents(202).contains(.denied(.anotherTalks, talker: SSRC(201), retryAfter: .zero)))
    }

    @Test func thePartsOfAClusterArbitrateApartAndTheLowerTermIsRevoked() {
        let cluster = SimulatedFloorCluster(2, members: 2, seed: 4)
        cluster.run(for: .seconds(1))
        cluster.press(101)
        cluster.run(for: .milliseconds(100))
        cluster.part([2])
        cluster.run(for: .seconds(4))
        #expect(cluster.leaders == [1, 2])
        #expect(cluster.terms == [1, 2])
        cluster.press(202)
        cluster.run(for: .milliseconds(100))
        #expect(cluster.sending == [101, 202])
        _ = cluster.takeEvents(101)
        cluster.part([])
        cluster.run(for: .seconds(2))
        #expect(cluster.leaders == [2])
        #expect(cluster.sending == [202])
        #expect(cluster.takeEvents(101).first == .revoked(.noPermission, retryAfter: .zero))
        cluster.release(202)
        cluster.press(101)
        cluster.run(for: .milliseconds(100))
        #expect(cluster.sending == [101])
    }

    /// The rounds that all seeds together play. Tools/test --long plays more.
    private static let rounds = (Int(ProcessInfo.processInfo.environment["TENFOUR_FLOOR_ROUNDS"] ?? "") ?? 2_000) / 20

    /// Whatever happens between the relays: a while later one relay arbitrates, and one station sends.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func afterDisorderOneTalks(seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        for round in 0..<(Self.rounds / 4) {
            let count = Int.random(in: 2...3, using: &randomness)
            let loss = randomness.unit() * 0.1
            let cluster = SimulatedFloorCluster(count, members: 2, loss: loss, seed: randomness.next())
            for _ in 0..<Int.random(in: 1...4, using: &randomness) { disturb(cluster, count, &randomness) }
            cluster.part([])
            cluster.run(for: .seconds(8))
            let label: Comment = "seed \(seed), round \(round): \(count) relays, loss \(loss)"
            #expect(cluster.leaders.count == 1, label)
            #expect(cluster.sending.count <= 1, label)
            #expect(cluster.twiceGranted == 0, label)
            for station in cluster.participants.keys.sorted() { cluster.release(station) }
            cluster.run(for: .seconds(3))
            #expect(cluster.sending == [], label)
            let next = SimulatedFloorCluster.station(count, 1)
            cluster.press(next)
            cluster.run(for: .seconds(1))
            #expect(cluster.sending == [next], label)
        }
    }

    private func disturb(_ cluster: SimulatedFloorCluster, _ count: Int, _ randomness: inout SeededRandom) {
        cluster.part(randomness.happens(0.7) ? [Int.random(in: 1...count, using: &randomness)] : [])
        for _ in 0..<4 {
            let relay = Int.random(in: 1...count, using: &randomness)
            let station = SimulatedFloorCluster.station(relay, UInt32.random(in: 1...2, using: &randomness))
            if randomness.happens(0.3) {
                cluster.release(station)
            } else {
                cluster.press(station, waits: randomness.happens(0.5))
            }
            cluster.run(for: .milliseconds(Int.random(in: 0...1_500, using: &randomness)))
        }
    }
}
