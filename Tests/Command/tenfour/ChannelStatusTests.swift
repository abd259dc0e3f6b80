import TenfourChannelKeys
import TenfourChannelMember
import TenfourRadio
import TenfourSession
import Testing

@testable import tenfour

struct ChannelStatusTests {
    private func news(of reason: Refusal.Reason) throws -> String? {
        var randomness = CSPRNG()
        let keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
        let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)
        var settings = ChannelSettings(keys: keys, role: .talk, relay: nil)
        settings.relay = .init(
            id: RelayID(host: "bob.local", port: 5_004), host: "bob.local", endpoints: [endpoint])
        var configuration = RadioConfiguration(local: endpoint, rtpSession: RTPSessionConfiguration())
        configuration.protection = .channel(settings)
        var channelStatus = ChannelStatus(configuration)
        channelStatus.apply(.joined(.talk, seenAt: endpoint))
        #expect(channelStatus.isReached)
        channelStatus.apply(.closed(reason))
        #expect(!channelStatus.isReached)
        return channelStatus.notice(for: .closed(reason), verbose: false)
    }

    @Test func whetherAStationHasLeftOrARelayStopsIsReported() throws {
        #expect(try news(of: .left) == "bob.local (192.0.2.1:5004) has left; trying again until it is back")
        #expect(try news(of: .stopping) == "the relay is stopping; trying again until it is back")
    }
}
