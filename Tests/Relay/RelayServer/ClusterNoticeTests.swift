import TenfourChannelKeys
import TenfourFloor
import TenfourNATS
import TenfourRelayCluster
import TenfourRelayCore
import TenfourRelayServer
import TestSupport
import Testing

/// The operator of a relay in a cluster is notified when the other relay falls silent.
@Suite(.onItsOwnThread)
final class ClusterNoticeTests {
    private let nats: NATSServer
    private var relays: [RunningRelay] = []

    init() throws {
        nats = try NATSServer()
        var generator = CSPRNG()
        let family = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        var relay = RelayConfiguration()
        relay.channels = [.init(name: "family", talkJoin: try #require(family.talkJoin), listenJoin: family.listenJoin)]
        relay.channels[0].floor = .init(isRequired: true)
        var configuration = RelayServerConfiguration(bind: .anyLoopbackPort, relay: relay)
        configuration.cluster = ClusterConfiguration(
            key: ClusterKey(using: &generator), nats: NATSConfiguration(servers: ["nats://127.0.0.1:\(nats.port)"]))
        for _ in 0..<2 { relays.append(try RunningRelay(configuration)) }
        for relay in relays { relay.wait { relay.notices.contains(.cluster(.relays(1))) } }
    }

    deinit { for relay in relays { relay.stop() } }

    private let warning = RelayNotice.cluster(.floorsApart(channels: ["family"]))

    @Test func relaysThatAreCutOffSayThatTwoMayTalkAtOnce() {
        nats.kill()
        for relay in relays { relay.wait { relay.notices.contains(self.warning) } }
    }

    @Test func aRelayThatStopsHasLeftNobodyToTalk() {
        relays[1].stop()
        relays[0].wait { relays[0].notices.contains(.cluster(.relays(0))) }
        let count = relays[0].notices.count
        nats.kill()
        // A relay tells all that is new once a second.
        relays[0].wait { relays[0].notices.count > count }
        #expect(!relays[0].notices.contains(warning))
    }
}
