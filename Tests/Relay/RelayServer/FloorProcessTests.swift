import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourFloor
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// The floor of a channel whose members are at three relays, which are processes.
@Suite(.onItsOwnThread, .inRealTime, .serialized)
struct FloorProcessTests {
    private let cluster: ClusterProcesses

    init() throws {
        cluster = try ClusterProcesses()
        // Each member knows its own relay only, and stays there.
        for relay in 0..<3 { cluster.add(.talk, orderingRelays: [relay], usesFloor: true) }
        try #require(cluster.run(.seconds(20)) { cluster.members.allSatisfy(\.isJoined) })
        try #require(
            cluster.run(.seconds(20)) { cluster.members.allSatisfy { $0.channel.floor?.otherEnd == .arbitrates } })
        cluster.run(.seconds(3))
    }

    private var sending: [Int] { cluster.members.indices.filter { cluster.members[$0].maySend } }

    /// Runs the members, of which those talk that may. Returns the most that may at a time.
    @discardableResult
    private func run(_ duration: Duration, until isSo: () -> Bool = { false }) -> Int {
        var most = 0
        cluster.run(duration) {
            cluster.talkers = sending
            most = max(most, sending.count)
            return isSo()
        }
        return most
    }

    @Test func oneOfAllTalksAndTheOthersHearIt() throws {
        var times: [Duration] = []
        for talker in 0..<3 {
            let start = Clocks.now
            cluster.members[talker].pressFloor()
            run(.seconds(10)) { sending == [talker] }
            times.append(Clocks.now - start)
            #expect(sending == [talker])
            run(.seconds(10)) {
                cluster.members.indices.allSatisfy { $0 == talker || cluster.hears($0, talker, since: start) }
            }
            for other in 0..<3 where other != talker {
                #expect(cluster.hears(other, talker, since: start))
                cluster.members[other].pressFloor()
            }
            #expect(run(.milliseconds(500)) == 1)
            #expect(sending == [talker])
            for other in 0..<3 where other != talker {
                let denied = FloorEvent.denied(
                    .anotherTalks, talker: cluster.members[talker].ssrc, retryAfter: .zero)
                #expect(cluster.members[other].floorEvents.contains(denied))
                cluster.members[other].releaseFloor()
            }
            cluster.members[talker].releaseFloor()
            run(.milliseconds(500))
            #expect(sending == [])
        }
        print("the floor was granted after \(times.map { $0 / .milliseconds(1) }) ms")
    }

    @Test func atMostOneTalksAtAnyTime() {
        var randomness = SeededRandom(seed: 18)
        var most = 0
        var talkers: Set<Int> = []
        for _ in 0..<100 {
            let member = cluster.members[Int.random(in: 0..<3, using: &randomness)]
            if randomness.happens(0.4) {
                member.releaseFloor()
            } else {
                member.pressFloor(waits: randomness.happens(0.5))
            }
            most = max(most, run(.milliseconds(Int.random(in: 0...150, using: &randomness))))
            talkers.formUnion(sending)
        }
        #expect(most == 1)
        #expect(talkers == [0, 1, 2])
    }

    /// Without NATS the relays know nothing of each other.
    @Test func thePartsArbitrateApartAndOneTalksWhenTheyAreWholeAgain() throws {
        cluster.members[0].pressFloor()
        run(.seconds(10)) { sending == [0] }
        #expect(sending == [0])
        cluster.killNATS()
        // Each relay finds the others gone, and arbitrates for its own member.
        run(.seconds(6))
        for member in cluster.members { member.pressFloor() }
        run(.seconds(10)) { sending == [0, 1, 2] }
        #expect(sending == [0, 1, 2])
        try cluster.startNATS()
        run(.seconds(20)) { sending.count == 1 }
        #expect(sending.count == 1)
        #expect(run(.seconds(3)) == 1)
        for member in cluster.members { member.releaseFloor() }
        run(.seconds(10)) { sending.isEmpty }
        cluster.members[2].pressFloor()
        run(.seconds(10)) { sending == [2] }
        #expect(sending == [2])
    }

    @Test func theTalkerGoesOnWhenTheRelayThatArbitratesIsKilled() throws {
        // One of the others: of the two that remain, at least one relay did not arbitrate.
        for victim in 0..<2 {
            let talker = 2
            cluster.members[talker].pressFloor()
            run(.seconds(10)) { sending == [talker] }
            #expect(sending == [talker])
            cluster.killRelay(victim)
            #expect(run(.seconds(8)) <= 1)
            #expect(sending == [talker], "after the end of relay \(victim)")
            cluster.members[talker].releaseFloor()
            run(.milliseconds(500))
        }
    }
}
