import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSession
import TestSupport

/// A talker at relay 0 and a listener at relay 1, and somebody on NATS who has recorded everything.
final class ReplayScene {
    let cluster: SimulatedCluster
    private let talker: SimulatedMember
    private let listener: SimulatedMember
    /// The time at which each packet was said.
    private var said: [[UInt8]: Instant] = [:]
    private var heard: Set<[UInt8]> = []
    /// The time at which the listener's relay was started.
    private var listenersStart = Instant.start
    /// The time at which the talker's relay was last gone for the listener's relay.
    private var forgotten = Instant.start
    private var isForgotten = true
    /// The time at which the last packet that was heard was said.
    private(set) var lastHeard: Instant?
    /// The packets that were heard and should not have been.
    private(set) var oldCount = 0

    init(seed: UInt64 = 1) {
        let family = ChannelKeys.drawn("family")
        cluster = SimulatedCluster(2, [family], seed: seed)
        cluster.delay = 5_000...10_000
        talker = SimulatedMember(family, .talk, at: .host(1))
        listener = SimulatedMember(family, .listen, at: .host(2))
        cluster.run(.milliseconds(200))
        talker.join(cluster.node(0).room)
        listener.join(cluster.node(1).room)
        talker.announce(cluster.node(0).room)
        talk(.milliseconds(400))
    }

    var heardCount: Int { heard.count }

    // MARK: - Faults

    /// `behind`: by how much the relay's clock is wrong from then on.
    func restartTalkersRelay(behind: Duration = .zero) {
        cluster.kill(0)
        let room = cluster.start(0).room
        let milliseconds = Int(RelayHarness.clock.sinceEpoch) + Int((cluster.now - .start - behind) / .milliseconds(1))
        room.relay.setClock(WallClock(milliseconds: UInt64(milliseconds)), at: cluster.now)
        talker.join(cluster.node(0).room)
        talker.announce(cluster.node(0).room)
    }

    func restartListenersRelay() {
        listen()
        cluster.kill(1)
        cluster.start(1)
        listener.join(cluster.node(1).room)
        listenersStart = cluster.now
    }

    var isCut: Bool { !cluster.partitions.isEmpty }

    func cut() { cluster.partitions = [[0, 1]] }

    func heal() {
        guard isCut else { return }
        cluster.partitions = []
        for number in 0..<2 { cluster.node(number).cluster.connected(at: cluster.now) }
    }

    /// Everything that was ever on NATS arrives at both relays once more.
    func replay() {
        for (from, message) in cluster.log { cluster.inject(message, to: 1 - from) }
    }

    /// Keeps all messages back but those of some kinds.
    func hold(but passed: Set<UInt8>) { cluster.heldKinds = Set(1...8).subtracting(passed) }

    func release() { cluster.release() }

    func listenersMachineHasSlept() { cluster.node(1).cluster.machineHasSlept(at: cluster.now) }

    /// Lets time pass in silence.
    func run(_ duration: Duration) {
        cluster.run(duration)
        listen()
    }

    // MARK: - Speech

    /// Speaks for a while, a packet every 20 ms.
    func talk(_ duration: Duration) {
        let end = cluster.now + duration
        while cluster.now < end {
            let packet = talker.packet()
            said[packet] = cluster.now
            cluster.node(0).room.receive(talker.tagged(packet), from: talker.endpoint)
            for _ in 0..<4 {
                cluster.run(.milliseconds(5))
                listen()
            }
        }
    }

    /// Speaks until a packet said from now on is heard. Returns the time that it took; nil if it took `limit`.
    func timeUntilHeard(atMost limit: Duration) -> Duration? {
        let start = cluster.now
        while cluster.now - start < limit {
            talk(.milliseconds(20))
            if let lastHeard, lastHeard >= start { return cluster.now - start }
        }
        return nil
    }

    private func listen() {
        let node = cluster.node(1)
        let isForgotten = node.cluster.status.relayCount == 0
        if isForgotten, !self.isForgotten { forgotten = cluster.now }
        self.isForgotten = isForgotten
        for packet in node.packets(listener.endpoint) {
            guard let time = said[packet] else { continue }
            let isNew = heard.insert(packet).inserted
            if !isNew || time < max(listenersStart, forgotten) || cluster.now - time > .milliseconds(2_005) {
                oldCount += 1
            }
            lastHeard = max(lastHeard ?? time, time)
        }
        node.heard = [:]
    }
}
