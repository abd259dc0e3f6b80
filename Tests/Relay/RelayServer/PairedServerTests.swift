import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourRelayServer
import TenfourUV
import TestSupport
import Testing

/// Channels of stations that have paired, over real sockets.
@Suite(.onItsOwnThread) struct PairedServerTests {
    private let relayKey = {
        var generator = CSPRNG()
        return RelayKey(using: &generator)
    }()

    private var configuration: RelayServerConfiguration {
        var configuration = RelayServerConfiguration(bind: .anyLoopbackPort, workers: 2)
        configuration.relay.key = relayKey
        configuration.relay.pairing = PairingConfiguration()
        return configuration
    }

    private func pair() -> ChannelKeys {
        var generator = CSPRNG()
        let pass = PassMaker(relayKey).drawPass(using: &generator)
        return ChannelKeys(name: "pair", secret: Secret(.talk, using: &generator), pass: pass)
    }

    @Test func aChannelIsHeardByItsMembersOnlyAlsoAtAnIndexThatAnotherHad() throws {
        let relay = try RunningRelay(configuration)
        let (first, second) = (pair(), pair())
        var formers = try (0..<3).map { _ in try TestMember(.talk, of: first, at: relay.port) }
        formers[0].announce(SSRC(7))
        formers[0].speak(rtp(1))
        for index in 1...2 { #expect(formers[index].heard(2).last == rtp(1)) }
        for index in formers.indices { formers[index].leave() }
        relay.wait { $0.relay.paired?.channelCount == 0 }
        var talker = try TestMember(.talk, of: second, at: relay.port)
        var listener = try TestMember(.listen, of: second, at: relay.port)
        talker.announce(SSRC(7))
        talker.speak(rtp(2))
        #expect(listener.heard(2).last == rtp(2))
        let status = relay.wait { $0.relay.paired?.forwardedCount == 4 }
        #expect(status.relay.paired?.channelCount == 1 && status.relay.paired?.memberCount == 2)
        #expect(status.relay.channels.isEmpty && status.fanOuts.isEmpty)
        for index in formers.indices { #expect(formers[index].heard(1, within: 100).isEmpty) }
    }

    /// The sending threads forget what they have counted for a channel that has ended.
    @Test func aChannelAtAnIndexThatAnotherHadBeginsWithoutItsStatistics() throws {
        let relay = try RunningRelay(configuration)
        let keys = pair()
        var talker = try TestMember(.talk, of: keys, at: relay.port)
        var listener = try TestMember(.talk, of: keys, at: relay.port)
        talker.announce(SSRC(7))
        talker.speak(rtp(1))
        #expect(listener.heard(2).last == rtp(1))
        talker.leave()
        listener.leave()
        relay.wait { $0.relay.paired?.channelCount == 0 }
        var generator = CSPRNG()
        let family = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        var changed = configuration
        changed.relay.channels = [
            RelayConfiguration.Channel(name: "family", talkJoin: family.talkJoin!, listenJoin: family.listenJoin)
        ]
        // The index of the pair's channel is free after a second. Until then the new channel gets another one.
        relay.wait { status in
            if status.relay.channels.isEmpty {
                relay.server.reload(changed)
            } else if status.relay.channels[0].number != 0 {
                relay.server.reload(configuration)
            }
            return status.relay.channels.first?.number == 0 && status.fanOuts == [FanOutStatistics()]
        }
    }

    @Test func aRelayThatIsStartedAnewHasTheChannelsAndOneThatPairsNoMoreHasNot() throws {
        let keys = pair()
        let relay = try RunningRelay(configuration)
        var one = try TestMember(.talk, of: keys, at: relay.port)
        relay.stop()
        _ = one.heard(1)
        #expect(one.goodbye == .stopping)
        let next = try RunningRelay(configuration)
        var (again, other) = (
            try TestMember(.talk, of: keys, at: next.port), try TestMember(.talk, of: keys, at: next.port)
        )
        again.announce(SSRC(7))
        again.speak(rtp(1))
        #expect(other.heard(2).last == rtp(1))
        var off = configuration
        off.relay.pairing = nil
        next.server.reload(off)
        _ = other.heard(1)
        #expect(other.goodbye == .refused)
        next.wait { $0.relay.paired == nil }
    }
}
