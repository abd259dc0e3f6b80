import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// A stranger on NATS can drop and delay messages, and nothing else.
struct HostileMessageTests {
    let family = ChannelKeys.drawn("family")
    let cluster: SimulatedCluster
    let anna: SimulatedMember
    let ben: SimulatedMember

    init() {
        (cluster, anna, ben) = SimulatedCluster.withTwoMembers(relays: 2, of: family)
        anna.announce(cluster.node(0).room)
        for _ in 0..<20 {
            anna.talk(cluster.node(0).room)
            cluster.run(.milliseconds(20))
        }
    }

    private var heard: Int { cluster.node(1).packets(ben.endpoint).count }

    /// Lets relay 1 receive a message, and returns the number of messages that it accepts.
    private func accepts(_ message: ClusterMessage) -> Int {
        let node = cluster.node(1)
        let before = node.cluster.status.receivedCount
        var bytes = message.bytes
        let delivery = node.cluster.receive(&bytes, on: message.subject, into: &node.room.relay, at: cluster.now)
        #expect(delivery == nil)
        return node.cluster.status.receivedCount - before
    }

    @Test func replayedMessagesChangeNothing() {
        for (from, message) in cluster.log where from == 0 { #expect(accepts(message) == 0) }
        #expect(heard == 20)
    }

    @Test func aChangedBitAnywhereIsFound() {
        let log = cluster.log
        cluster.node(0).cluster.connected(at: cluster.now)
        for case (0, let message) in log.suffix(8) {
            for index in message.bytes.indices {
                var changed = message
                changed.bytes[index] ^= 1
                #expect(accepts(changed) == 0)
            }
        }
    }

    @Test func aMessageOnAnotherSubjectIsRefused() {
        var message = cluster.log.last { $0.from == 0 && $0.message.bytes[1] == 1 }!.message
        message.subject = cluster.log.last { $0.message.bytes[1] == 3 }!.message.subject
        #expect(accepts(message) == 0)
    }

    @Test func truncatedAndRandomMessagesAreRefused() {
        let message = cluster.log.last { $0.from == 0 }!.message
        for count in message.bytes.indices {
            var cut = message
            cut.bytes = Array(message.bytes[..<count])
            #expect(accepts(cut) == 0)
        }
        for count in 0..<2_000 {
            var random = message
            random.bytes = (0..<count % 300).map { _ in .random(in: 0...255, using: &cluster.randomness) }
            if count % 2 == 0 {
                for (index, byte) in message.bytes.prefix(min(28, random.bytes.count)).enumerated() {
                    random.bytes[index] = byte
                }
            }
            #expect(accepts(random) == 0)
        }
    }

    @Test func aRelayWithAnotherKeyIsAStranger() {
        let strangers = SimulatedCluster(2, [family], seed: 9)
        strangers.run(.seconds(1))
        for (_, message) in strangers.log {
            var message = message
            message.subject = cluster.log[0].message.subject
            #expect(accepts(message) == 0)
        }
        #expect(cluster.node(1).cluster.status.relayCount == 1)
    }

    @Test func theMessagesOfARelayThatIsGoneCannotBeReplayed() {
        let recorded = cluster.log.filter { $0.from == 0 }.map(\.message)
        let before = heard
        cluster.kill(0)
        cluster.run(.seconds(3))
        #expect(cluster.node(1).cluster.status.relayCount == 0)
        for message in recorded { cluster.inject(message, to: 1) }
        cluster.run(.seconds(1))
        for message in recorded { cluster.inject(message, to: 1) }
        cluster.run(.seconds(1))
        #expect(cluster.node(1).cluster.status.relayCount == 0)
        #expect(heard == before)
    }

    /// Requests and farewells are no exception.
    @Test func noMessageOfAnyKindIsAcceptedByARelayThatWasStartedAnew() {
        cluster.partitions = [[0, 1]]
        anna.talk(cluster.node(0).room)
        cluster.run(.milliseconds(5))
        cluster.partitions = []
        for _ in 0..<100 {
            anna.talk(cluster.node(0).room)
            cluster.run(.milliseconds(20))
        }
        for number in 0..<2 {
            cluster.node(number).cluster.leave(at: cluster.now)
            cluster.node(number).settle()
        }
        cluster.run(.milliseconds(100))
        for victim in [1, 0] {
            #expect(cluster.kinds(of: 1 - victim).keys.contains(victim == 1 ? 5 : 4))
            let recorded = cluster.log.filter { $0.from != victim }.map(\.message)
            cluster.kill(victim)
            let node = cluster.start(victim)
            ben.join(node.room)
            cluster.run(.seconds(2))
            #expect(node.cluster.status.relayCount == 1)
            let before = node.cluster.status.receivedCount
            // Messages of the boot that is present; those of earlier ones are no more than candidates.
            for message in recorded where message.bytes[4..<20] == recorded.last!.bytes[4..<20] {
                var bytes = message.bytes
                let delivery = node.cluster.receive(
                    &bytes, on: message.subject, into: &node.room.relay, at: cluster.now)
                #expect(delivery == nil)
            }
            #expect(node.cluster.status.receivedCount == before)
            #expect(node.cluster.status.relayCount == 1)
        }
    }

    @Test func aNewRelayBelievesNoMessageOfBeforeItsStart() {
        let recorded = cluster.log.map(\.message)
        cluster.kill(0)
        cluster.kill(1)
        cluster.run(.seconds(3))
        let node = cluster.start(1)
        ben.join(node.room)
        for message in recorded { cluster.inject(message, to: 1) }
        cluster.run(.seconds(5))
        #expect(node.cluster.status.relayCount == 0)
        #expect(node.packets(ben.endpoint).isEmpty)
        #expect(node.cluster.status.discards[.stranger] ?? 0 > 0)
    }
}
