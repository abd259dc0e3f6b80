import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// The counters of a relay's part in its cluster; each is moved by what it counts.
struct ClusterStatusTests {
    let family = ChannelKeys.drawn("family")
    let cluster: SimulatedCluster
    let anna: SimulatedMember
    let ben: SimulatedMember

    init() {
        (cluster, anna, ben) = SimulatedCluster.withTwoMembers(relays: 3, of: family)
        anna.announce(cluster.node(0).room)
        cluster.run(.milliseconds(20))
    }

    private func status(_ number: Int) -> ClusterStatus { cluster.node(number).cluster.status }

    /// Lets anna say a packet that does not reach relay 1, and returns its message.
    private func lostMessage() -> ClusterMessage {
        cluster.partitions = [[0, 1]]
        defer { cluster.partitions = [] }
        anna.talk(cluster.node(0).room)
        cluster.run(.milliseconds(2))
        return cluster.log.last { $0.from == 0 }!.message
    }

    @Test func everyReasonToIgnoreAMessageIsCounted() {
        func count(_ reason: ClusterDiscard, of message: ClusterMessage, at number: Int = 1) {
            let before = status(number).discards[reason] ?? 0
            cluster.inject(message, to: number)
            cluster.run(.zero)
            #expect(status(number).discards[reason] == before + 1, "\(reason)")
        }
        let message = lostMessage()
        var changed = message
        changed.bytes = [1]
        count(.malformed, of: changed)
        changed = message
        changed.bytes[changed.bytes.count - 1] ^= 1
        count(.forged, of: changed)
        cluster.inject(message, to: 1)
        cluster.run(.zero)
        count(.replayed, of: message)
        let strangers = SimulatedCluster(2, [family], seed: 9)
        strangers.run(.seconds(1))
        changed = message
        changed.bytes.replaceSubrange(4..<20, with: strangers.log[0].message.bytes[4..<20])
        count(.stranger, of: changed)
        // Relay 2 has no members of the channel; it takes any subject here.
        cluster.node(2).subjects.insert(message.subject)
        count(.unknownChannel, of: message, at: 2)
    }

    @Test func messagesAndBytesAreCountedAtBothEnds() {
        let before = (status(0), status(1))
        anna.talk(cluster.node(0).room)
        cluster.run(.milliseconds(1))
        let message = cluster.log.last { $0.from == 0 }!.message
        #expect(status(0).sentCount == before.0.sentCount + 1)
        #expect(status(0).sentByteCount == before.0.sentByteCount + message.bytes.count)
        #expect(status(1).receivedCount == before.1.receivedCount + 1)
        #expect(status(1).receivedByteCount == before.1.receivedByteCount + message.bytes.count)
    }

    @Test func requestedAndRetransmittedPacketsAreCounted() {
        anna.talk(cluster.node(0).room)
        cluster.run(.milliseconds(20))
        _ = lostMessage()
        anna.talk(cluster.node(0).room)
        cluster.run(.milliseconds(30))
        #expect(status(1).requestedCount == 1)
        #expect(status(0).retransmittedCount == 1)
    }

    @Test func aRelayThatIsGoneIsCounted() {
        cluster.kill(0)
        cluster.run(.seconds(3))
        #expect(status(1).relayCount == 1)
        #expect(status(1).goneCount == 1)
        #expect(status(1).silencedCount == 1)
    }
}
