import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourNATS
import TenfourRelayCluster
import TenfourRelayCore
import TenfourRelayServer
import TestSupport
import Testing

/// Two relays that share a real nats-server, where somebody without the cluster key has recorded four seconds of talk.
@Suite(.onItsOwnThread, .inRealTime)
final class ClusterReplayTests {
    private let family: ChannelKeys
    private let key: ClusterKey
    private let nats: NATSServer
    private var relays: [RunningRelay] = []
    private var members: [SocketMember] = []
    private var eavesdropper: NATSEavesdropper

    init() throws {
        var generator = CSPRNG()
        family = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        key = ClusterKey(using: &generator)
        nats = try NATSServer()
        eavesdropper = NATSEavesdropper(port: nats.port)
        for _ in 0..<2 { relays.append(try RunningRelay(configuration())) }
        members = [
            SocketMember(.talk, of: family, at: relays[0].port, ssrc: 100),
            SocketMember(.listen, of: family, at: relays[1].port, ssrc: 101),
        ]
        wait("the relays know each other") { self.relayCounts == [1, 1] && self.members.allSatisfy(\.isJoined) }
        waitUntilHeard()
        for _ in 0..<200 {
            members[0].speak()
            run(.milliseconds(20))
        }
        wait("nearly all is heard, and recorded") {
            self.members[1].heard.count > 190 && self.eavesdropper.recorded.count > 200
        }
    }

    deinit { for relay in relays { relay.stop() } }

    private func configuration() throws -> RelayServerConfiguration {
        var relay = RelayConfiguration()
        relay.channels = [.init(name: "family", talkJoin: try #require(family.talkJoin), listenJoin: family.listenJoin)]
        var configuration = RelayServerConfiguration(bind: .anyLoopbackPort, relay: relay)
        configuration.cluster = ClusterConfiguration(
            key: key, nats: NATSConfiguration(servers: ["nats://127.0.0.1:\(nats.port)"]))
        return configuration
    }

    private var relayCounts: [Int] { relays.map { $0.server.status.cluster?.relays.relayCount ?? 0 } }

    private var replayedCount: Int { relays[1].server.status.cluster?.relays.discards[.replayed] ?? 0 }

    private func pump() {
        for member in members { member.pump() }
        eavesdropper.listen()
        usleep(500)
    }

    private func wait(_ what: Comment, until isSo: () -> Bool) {
        let end = Clocks.now + .seconds(60)
        while Clocks.now < end {
            pump()
            if isSo() { return }
        }
        Issue.record(what)
    }

    private func run(_ duration: Duration) {
        let end = Clocks.now + duration
        while Clocks.now < end { pump() }
    }

    /// Lets the talker speak until the last member hears its last packet. Returns the time that it took.
    @discardableResult private func waitUntilHeard() -> Duration {
        let start = Clocks.now
        var spoken: Instant?
        wait("the talker is heard") {
            if let last = members[0].lastSpoken, spoken != nil, members.last?.heard.last == last { return true }
            if spoken.map({ Clocks.now - $0 > .milliseconds(100) }) ?? true {
                members[0].speak()
                spoken = Clocks.now
            }
            return false
        }
        return Clocks.now - start
    }

    private func restartRelay(_ number: Int) throws {
        relays[number].stop()
        relays[number] = try RunningRelay(configuration())
    }

    @Test(arguments: ["the listener's relay is started anew", "NATS is away until the relays forget each other"])
    func aListenerThatJoinsLaterHearsNothingThatWasSaidBefore(because: String) throws {
        let recorded = eavesdropper.recorded
        let last = try #require(members[0].lastSpoken)
        if because.hasPrefix("NATS") {
            nats.kill()
            wait("the relays have forgotten each other") { relayCounts == [0, 0] }
            try nats.start()
            eavesdropper = NATSEavesdropper(port: nats.port)
        } else {
            try restartRelay(1)
        }
        members[1] = SocketMember(.listen, of: family, at: relays[1].port, ssrc: 102)
        wait("the listener has joined, and the relays know each other") {
            relayCounts == [1, 1] && members[1].isJoined
        }
        run(.milliseconds(200))
        // Once before the talker is heard again, and once after.
        for _ in 0..<2 {
            let before = replayedCount
            eavesdropper.replay(recorded)
            wait("all media have arrived once more") { replayedCount >= before + 190 }
            run(.milliseconds(100))
            print("heard again after \(waitUntilHeard() / .milliseconds(1)) ms")
        }
        #expect(members[1].heard.filter { $0 <= last } == [])
        #expect(Set(members[1].heard).count == members[1].heard.count)
    }
}
