import Glibc
import TenfourChannelKeys
import TenfourFloor
import TenfourRelayCore
import TenfourRelayServer
import TestSupport
import Testing

/// A channel and a relay that forwards it on a port of the loopback interface.
struct SocketChannel {
    let keys: ChannelKeys
    let relay: RunningRelay

    init(floor: FloorArbiter.Configuration? = nil) throws {
        var generator = CSPRNG()
        keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        var configuration = RelayConfiguration()
        configuration.channels = [
            .init(name: "family", talkJoin: try #require(keys.talkJoin), listenJoin: keys.listenJoin)
        ]
        configuration.channels[0].floor = floor
        relay = try RunningRelay(RelayServerConfiguration(bind: .anyLoopbackPort, relay: configuration, workers: 1))
    }

    /// Waits until all members are in the channel. `pump` is called meanwhile.
    func join(_ members: [SocketMember], pump: () -> Void = {}) throws {
        for _ in 0..<10_000 where !members.allSatisfy(\.isJoined) {
            for member in members { member.pump() }
            pump()
            usleep(500)
        }
        let isJoined = members.allSatisfy(\.isJoined)
        try #require(isJoined)
    }
}
