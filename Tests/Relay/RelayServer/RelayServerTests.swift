import Foundation
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TenfourUV
import TestSupport
import Testing

@Suite(.onItsOwnThread)
struct RelayServerTests {
    private func keys(_ name: String) -> ChannelKeys {
        var generator = CSPRNG()
        return ChannelKeys(name: name, secret: Secret(.talk, using: &generator))
    }

    private func configuration(_ channels: [ChannelKeys], workers: Int = 1) -> RelayServerConfiguration {
        var relay = RelayConfiguration()
        relay.channels = channels.compactMap { keys in
            keys.talkJoin.map { .init(name: keys.name, talkJoin: $0, listenJoin: keys.listenJoin) }
        }
        return RelayServerConfiguration(bind: .anyLoopbackPort, relay: relay, workers: workers)
    }

    @Test(arguments: [1, 3]) func mediaReachesTheChannelAndNobodyElse(workers: Int) throws {
        let (family, others) = (keys("family"), keys("others"))
        let relay = try RunningRelay(configuration([family, others], workers: workers))
        var talker = try TestMember(.talk, of: family, at: relay.port)
        var second = try TestMember(.talk, of: family, at: relay.port)
        var listeners: [TestMember] = []
        for _ in 0..<5 { listeners.append(try TestMember(.listen, of: family, at: relay.port)) }
        var stranger = try TestMember(.listen, of: others, at: relay.port)
        relay.wait { $0.relay.channels.map(\.memberCount) == [7, 1] }

        talker.announce(SSRC(7))
        for number: UInt8 in 0..<30 { talker.speak(rtp(number)) }
        for index in listeners.indices {
            #expect(listeners[index].heard(31).map { $0.first } == [99] + [UInt8](repeating: 0x80, count: 30))
        }
        #expect(second.heard(31).dropFirst().map { $0 } == (0..<30).map { rtp($0) })
        #expect(stranger.heard(1, within: 100).isEmpty)
        #expect(talker.heard(1, within: 100).isEmpty)
        let status = relay.wait { $0.fanOuts.first?.sent == 31 * 6 && $0.talkerSockets == 1 }
        #expect(status.fanOuts.map(\.offered) == [31 * 6, 0])
        #expect(status.relay.channels.first?.forwardedCount == 31)
    }

    /// A peer that has proved nothing receives no more bytes than it sent; the same as in the simulation, but over
    /// real sockets.
    @Test func aStrangerGetsNoMoreThanItSent() throws {
        let family = keys("family")
        let relay = try RunningRelay(configuration([family]))
        var talker = try TestMember(.talk, of: family, at: relay.port)
        talker.announce(SSRC(7))
        let unknown = try #require(keys("elsewhere").joinKey(for: .talk))
        let name = RelayID(host: "127.0.0.1", port: relay.port)
        var randomness = CSPRNG()
        let stranger = PlainSocket()
        var joining = JoinAttempt(unknown, relay: name, using: &randomness)
        var (sent, got) = (0, 0)
        // The number of answers by type: cookies, refusals and unknown-session datagrams.
        var answers: [UInt8: Int] = [:]
        for number in 0..<4_000 {
            if number % 20 == 0 { talker.speak(rtp(UInt8(number / 20))) }
            // Renews the lease, so that it does not end on a slow machine.
            if number % 200 == 0 {
                talker.renew()
                _ = talker.heard(1, within: 5)
            }
            let kind = UInt8(randomness.next() % 12)
            var datagram =
                [UInt8(ascii: "c"), 1, kind, 0] + (0..<124).map { _ in UInt8(truncatingIfNeeded: randomness.next()) }
            if kind > 8 { datagram = Array(datagram.prefix(Int(12 + randomness.next() % 60))) }
            // Every fourth datagram is a valid HELLO, or a JOIN with a valid cookie and the proof of an unknown key.
            if number % 4 == 0 {
                if number % 32 == 0 { joining = JoinAttempt(unknown, relay: name, using: &randomness) }
                datagram = [UInt8](capacity: 128) { joining.write(into: &$0) }
            }
            stranger.send(datagram, toPort: relay.port)
            sent += datagram.count
            while let answer = stranger.receive(within: number % 4 == 0 ? 1 : 0) {
                got += answer.count
                answers[answer[2], default: 0] += 1
                _ = joining.receive(answer.span)
                #expect(got <= sent)
            }
        }
        while let answer = stranger.receive(within: 100) { got += answer.count }
        #expect(got <= sent)
        for kind: UInt8 in [2, 5, 7] { #expect(answers[kind, default: 0] > 3, "\(kind)") }
        relay.wait { $0.relay.channels.first?.forwardedCount == 201 }
    }

    /// Hostile datagrams arrive at the relay's sockets from the addresses of members and of a stranger. The listener
    /// must hear what the talker sends and nothing else.
    @Test func nothingForgedReplayedOrCrossedIsForwarded() throws {
        let (family, others) = (keys("family"), keys("others"))
        var configuration = configuration([family, others])
        configuration.relay.limits.talkerPacketsPerSecond = 100_000
        configuration.relay.limits.talkerBitsPerSecond = 100_000_000
        let relay = try RunningRelay(configuration)
        // A relay with the same channel.
        let elsewhere = try RunningRelay(self.configuration([family]))
        var traffic = try HostileSocketTraffic(to: relay, elsewhere: elsewhere, family: family, others: others)

        let isLong = ProcessInfo.processInfo.environment["TENFOUR_LONG"] != nil
        let total = isLong ? 1_060_000 : 20_000
        var (validCount, hostileCount, wrongCount) = (0, 0, 0)
        for round in 0..<total {
            if round % 5_000 == 0 { traffic.renewLeases() }
            if round % 20 == 0 {
                if !traffic.talk(validCount) { wrongCount += 1 }
                validCount += 1
            } else {
                traffic.sendHostileDatagram(round)
                hostileCount += 1
            }
        }
        #expect(wrongCount == 0 && traffic.listener.nextMedia(within: 100) == nil)
        let status = relay.wait {
            $0.relay.discards.total > hostileCount * 9 / 10
                && $0.relay.channels.first?.forwardedCount == validCount + 1
        }
        #expect(status.relay.channels.map(\.forwardedCount) == [validCount + 1, 1])
        #expect(status.relay.channels.map(\.memberCount) == [4, 1])
        for reason in [
            RelayDiscard.forgedMedia, .replayedMedia, .listenerMedia, .strangerMedia, .unannounced, .replayedRecord,
        ] { #expect(status.relay.discards[reason] > 0, "\(reason)") }
    }

    /// A listener's HELLO, JOIN and renewals are replayed from another address and from its own.
    @Test func aReplayedListenerRecordingStartsNoMedia() throws {
        let family = keys("family")
        let relay = try RunningRelay(configuration([family]))
        var talker = try TestMember(.talk, of: family, at: relay.port)
        var listener = try TestMember(.listen, of: family, at: relay.port)
        relay.wait { $0.relay.channels.first?.memberCount == 2 }
        talker.announce(SSRC(7))
        let other = PlainSocket()
        for datagram in listener.said { other.send(datagram, toPort: relay.port) }
        for number: UInt8 in 0..<30 { talker.speak(rtp(number)) }
        #expect(listener.heard(31).count == 31)
        listener.leave()
        relay.wait { $0.relay.channels.first?.memberCount == 1 }
        for number: UInt8 in 30..<60 {
            for datagram in listener.said {
                other.send(datagram, toPort: relay.port)
                listener.send(datagram)
            }
            talker.speak(rtp(number))
        }
        let status = relay.wait { $0.relay.channels.first?.forwardedCount == 61 }
        #expect(status.fanOuts.map(\.offered) == [31] && status.relay.channels[0].memberCount == 1)
        #expect(!listener.heard(.max, within: 100).contains { $0[0] == 0x80 })
        var (heardCount, byteCount) = (0, 0)
        while let answer = other.receive(within: 100) {
            if answer[0] == 0x80 { heardCount += 1 }
            byteCount += answer.count
        }
        #expect(heardCount == 0 && byteCount <= 31 * listener.said.reduce(0) { $0 + $1.count })
    }

    @Test func aTalkerIsHeardThroughAFloodOfJunk() throws {
        let family = keys("family")
        let relay = try RunningRelay(configuration([family]))
        var talker = try TestMember(.talk, of: family, at: relay.port)
        var listener = try TestMember(.listen, of: family, at: relay.port)
        talker.announce(SSRC(7))
        talker.speak(rtp(0))
        relay.wait { $0.talkerSockets == 1 }
        let flood = PlainSocket()
        for number: UInt8 in 1...50 {
            for _ in 0..<400 { flood.send([0x80] + [UInt8](repeating: 7, count: 150), toPort: relay.port) }
            talker.speak(rtp(number))
        }
        #expect(listener.heard(52).dropFirst().map { $0 } == (0...50).map { rtp($0) })
        let status = relay.wait { $0.relay.discards.total > 0 }
        #expect(status.relay.discards[.strangerMedia] == status.relay.discards.total)
    }

    @Test func aConfigurationReadAgainEndsOnlyTheChannelsThatChanged() throws {
        let (family, others) = (keys("family"), keys("others"))
        let relay = try RunningRelay(configuration([family, others]))
        var talker = try TestMember(.talk, of: family, at: relay.port)
        var listener = try TestMember(.listen, of: family, at: relay.port)
        var ended = try TestMember(.listen, of: others, at: relay.port)
        relay.server.reload(configuration([keys("others"), family]))
        #expect(ended.heard(1).map { $0[2] } == [6])
        #expect(ended.goodbye == .rekeyed)
        talker.announce(SSRC(7))
        talker.speak(rtp(1))
        #expect(listener.heard(2).last == rtp(1))
        let status = relay.wait { $0.relay.channels.count == 2 && $0.fanOuts.contains { $0.sent == 2 } }
        #expect(Set(status.relay.channels.map(\.name)) == ["others", "family"])
    }

    @Test func oversizedDatagramsAreCountedOnEverySocket() throws {
        let family = keys("family")
        var configuration = configuration([family])
        let target = PlainSocket()
        configuration.plain = [
            PlainChannel(name: "plain", inputs: [.init(bind: .anyLoopbackPort)], targets: [.loopback(target.port)])
        ]
        let relay = try RunningRelay(configuration)
        let plainPort = relay.plainPorts(1)[0]
        var talker = try TestMember(.talk, of: family, at: relay.port)
        var listener = try TestMember(.listen, of: family, at: relay.port)
        talker.announce(SSRC(7))
        // The longest packet allowed, and one byte more.
        for byteCount in [1_500, 1_501] { talker.speak(rtp(1, byteCount: byteCount)) }
        #expect(listener.heard(2).last == rtp(1, byteCount: 1_500))
        relay.wait { $0.talkerSockets == 1 }
        talker.speak(rtp(2, byteCount: 1_501))
        let stranger = PlainSocket()
        stranger.send(rtp(1, byteCount: 1_513), toPort: relay.port)
        for byteCount in [1_500, 1_501] { stranger.send(rtp(1, byteCount: byteCount), toPort: plainPort) }
        #expect(target.receive(within: 5_000) == rtp(1, byteCount: 1_500))
        relay.wait { $0.socket.truncated == 4 }
        // These sockets have been closed, but their counts remain.
        relay.server.reload(self.configuration([family]))
        talker.leave()
        relay.wait { $0.plain.isEmpty && $0.talkerSockets == 0 }
        relay.wait { $0.socket.truncated == 4 }
        relay.wait {
            relay.notices.contains {
                if case .dropped(let drops) = $0 { drops.contains { $0.reason == .tooLong } } else { false }
            }
        }
    }

    @Test func aConfigurationIsReadOnAThreadOfItsOwn() throws {
        let family = keys("family")
        let relay = try RunningRelay(configuration([family]))
        var talker = try TestMember(.talk, of: family, at: relay.port)
        var listener = try TestMember(.listen, of: family, at: relay.port)
        let (others, more) = (configuration([family, keys("others")]), configuration([family, keys("more")]))
        let reading = Gate()
        relay.server.reload(reading: {
            reading.wait()
            return others
        })
        // Requests two more reloads, of which only the last is read.
        relay.server.reload(reading: {
            Issue.record("a reload that a later one replaces must not be read")
            return nil
        })
        relay.server.reload(reading: { more })
        talker.announce(SSRC(7))
        for number: UInt8 in 0..<10 { talker.speak(rtp(number)) }
        #expect(listener.heard(11).count == 11)
        #expect(relay.server.status.relay.channels.map(\.name) == ["family"])
        reading.open()
        relay.wait { $0.relay.channels.map(\.name) == ["family", "more"] }
        // A configuration that cannot be read changes nothing.
        let isAsked = Gate()
        relay.server.reload(reading: {
            isAsked.open()
            return nil
        })
        isAsked.wait()
        #expect(relay.server.status.relay.channels.map(\.name) == ["family", "more"])
    }

    @Test func settingsThatNeedARestartAreComparedWithTheRunningOnes() throws {
        let family = keys("family")
        let (one, two) = (configuration([family]), configuration([family], workers: 2))
        let relay = try RunningRelay(one)
        let count = { relay.notices.count { $0 == .waitsForRestart } }
        for (step, wanted) in [(two, 1), (two, 2), (one, 2), (two, 3)].enumerated() {
            var next = wanted.0
            next.relay.channels.append(contentsOf: configuration([keys("step\(step)")]).relay.channels)
            relay.server.reload(next)
            relay.wait { $0.relay.channels.contains { $0.name == "step\(step)" } }
            relay.wait { count() == wanted.1 }
        }
    }

    @Test func allMembersLearnThatTheRelayEnds() throws {
        let family = keys("family")
        let relay = try RunningRelay(configuration([family]))
        var members: [TestMember] = []
        for _ in 0..<40 { members.append(try TestMember(.listen, of: family, at: relay.port)) }
        relay.stop()
        for index in members.indices {
            _ = members[index].heard(1)
            #expect(members[index].goodbye == .stopping)
        }
    }
}
