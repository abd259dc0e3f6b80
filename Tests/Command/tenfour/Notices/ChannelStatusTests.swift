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
        var settings = ChannelSettings(keys: keys, role: .talk, relays: [])
        let host = try RelayHost("bob.local")
        settings.relays = [.init(id: host.id, host: host, endpoints: [endpoint])]
        var configuration = RadioConfiguration(local: endpoint, rtpSession: RTPSessionConfiguration())
        configuration.protection = .channel(settings)
        var channelStatus = ChannelStatus(configuration)
        channelStatus.apply(.joined(.talk, seenAt: endpoint))
        #expect(channelStatus.isReached)
        channelStatus.apply(.closed(reason))
        #expect(!channelStatus.isReached)
        return channelStatus.notice(for: .closed(reason), verbose: false)
    }

    /// Which relay is heard through, and why it is another one than before.
    @Test func aChangeToAnotherRelayIsReportedWithItsReason() throws {
        var randomness = CSPRNG()
        let keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
        let endpoints = (1...2).map { Endpoint(.v4(0xC000_0200 + $0), port: 5_004) }
        let hosts = [try RelayHost("a.example"), try RelayHost("192.0.2.2:5004")]
        let relays = zip(hosts, endpoints).map { ChannelSettings.Relay(id: $0.id, host: $0, endpoints: [$1]) }
        var configuration = RadioConfiguration(local: endpoints[0], rtpSession: RTPSessionConfiguration())
        configuration.protection = .channel(ChannelSettings(keys: keys, role: .talk, relays: relays))
        var status = ChannelStatus(configuration)
        func tell(_ event: ChannelEvent) -> String? {
            status.apply(event)
            return status.notice(for: event, verbose: false)
        }
        #expect(tell(.relayReached(endpoints[0], insteadOf: nil, because: nil)) == nil)
        #expect(tell(.joined(.talk, seenAt: endpoints[0])) == "in the channel, through a.example")
        #expect(
            tell(.relayReached(endpoints[1], insteadOf: endpoints[0], because: nil))
                == "now in the channel through 192.0.2.2:5004: a.example (192.0.2.1:5004) no longer answers")
        #expect(status.relayName == "192.0.2.2" && status.isReached)
        #expect(
            tell(.relayReached(endpoints[0], insteadOf: endpoints[1], because: .stopping))
                == "now in the channel through a.example (192.0.2.1:5004): the relay is stopping")
        #expect(
            tell(.lost) == "none of the channel's 2 relays answers any more; trying again until one does")
        #expect(status.relayName == nil && !status.isReached)
    }

    @Test func whetherAStationHasLeftOrARelayStopsIsReported() throws {
        #expect(try news(of: .left) == "bob.local (192.0.2.1:5004) has left; trying again until it is back")
        #expect(try news(of: .stopping) == "the relay is stopping; trying again until it is back")
    }
}
