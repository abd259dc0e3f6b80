import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourRadio
import TenfourSession
import Testing

@testable import tenfour

struct ChannelStatusTests {
    /// The status of a channel whose relay is at `endpoint`.
    private func channelStatus(_ endpoint: Endpoint) throws -> ChannelStatus {
        var randomness = CSPRNG()
        let keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
        let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)
        var settings = ChannelSettings(keys: keys, role: .talk, relays: [])
        let host = try RelayHost("bob.local")
        settings.relays = [.init(id: host.id, host: host, endpoints: [endpoint])]
        var configuration = RadioConfiguration(local: endpoint, rtpSession: RTPSessionConfiguration())
        configuration.protection = .channel(settings)
        return ChannelStatus(configuration)
    }

    /// Audio that is missing because the relay is absent, or because clocks differ, is explained by another line.
    @Test func missingAudioIsExplained() throws {
        let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)
        var status = try channelStatus(endpoint)
        let missing = (1...2).map { Event.mediaMissing(SSRC($0)) }
        status.apply(.joined(.talk, seenAt: endpoint))
        #expect(!missing.contains(where: status.explains))
        status.apply(.refusedForTime(TimeRefusal(of: SSRC(1), .delay(.seconds(3)))))
        #expect(missing.map(status.explains) == [true, false])
        status.apply(.lost)
        #expect(missing.allSatisfy(status.explains))
        #expect(!status.explains(.mediaReturned(SSRC(1), isArriving: true)))
    }

    private func news(of reason: Refusal.Reason) throws -> String? {
        let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)
        var channelStatus = try channelStatus(endpoint)
        channelStatus.apply(.joined(.talk, seenAt: endpoint))
        #expect(channelStatus.isReached)
        channelStatus.apply(.closed(reason))
        #expect(!channelStatus.isReached)
        return channelStatus.notice(for: .closed(reason), TalkerNames(), verbose: false)
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
            return status.notice(for: event, TalkerNames(), verbose: false)
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

    /// Returns what is said in a channel whose relay is `relay.example`, if the kernel says that the clock is synchronised,
    /// or not.
    private func words(
        _ event: ChannelEvent, isSynchronised: Bool, names: TalkerNames = TalkerNames(), talker: SSRC? = nil
    ) throws -> String {
        var randomness = CSPRNG()
        let keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
        let host = try RelayHost("relay.example")
        let endpoint = Endpoint(.v4(0xC000_0201), port: 5_004)
        var configuration = RadioConfiguration(local: endpoint, rtpSession: RTPSessionConfiguration())
        configuration.protection = .channel(
            ChannelSettings(
                keys: keys, role: .listen, relays: [.init(id: host.id, host: host, endpoints: [endpoint])]))
        let status = ChannelStatus(configuration) { isSynchronised }
        return try #require(status.notice(for: event, names, talker: talker, verbose: false))
    }

    @Test func aRefusedTalkerReadsWhoHasTheFloor() throws {
        let limited = ChannelEvent.limited(.init(packetsPerSecond: 0, bitsPerSecond: 0))
        let line = try words(limited, isSynchronised: true, talker: SSRC(9))
        #expect(line.contains("\(TalkerNames()[SSRC(9)]) has the floor") && !line.contains("--frame"))
        let refused = try words(.mediaRefused(.floor, count: 30), isSynchronised: true, talker: SSRC(9))
        #expect(refused.contains("\(TalkerNames()[SSRC(9)]) has the floor") && !refused.contains("--frame"))
        #expect(try words(limited, isSynchronised: true).contains("another does"))
    }

    @Test func interferenceIsNamedWithItsCount() throws {
        let line = try words(.interference(count: 3), isSynchronised: true)
        #expect(line.hasPrefix("interference: somebody with this channel's link sends forged packets (3 so far); "))
        #expect(line.hasSuffix("make a new channel and give its link only to people you trust"))
    }

    /// A clock is called wrong only if its own kernel doubts it.
    @Test(arguments: [-3_600, -5, 5, 90_000], [true, false])
    func aDifferenceOfClocksIsNamedWithItsRemedy(seconds: Int, isOwnUsed: Bool) throws {
        let event = ChannelEvent.relayClockDiffers(.init(ahead: .seconds(seconds), isOwnUsed: isOwnUsed))
        let amount = [5: "5.0 s", 3_600: "3600 s (1 h)", 90_000: "90000 s (1 d 1 h)"][abs(seconds)] ?? ""
        let direction = seconds > 0 ? "behind" : "ahead of"
        for isSynchronised in [true, false] {
            let line = try words(event, isSynchronised: isSynchronised)
            let difference = "this clock is \(amount) \(direction) that of relay.example (192.0.2.1:5004)"
            #expect(line.hasPrefix(difference), "\(line)")
            #expect(line.contains("`sudo timedatectl set-ntp true`"))
            #expect(line.contains("either clock may be wrong") == isSynchronised)
            #expect(line.contains("not synchronised") != isSynchronised)
            #expect(line.contains("--clock right") == (isOwnUsed && !isSynchronised))
            #expect(line.contains("--clock unknown") == (!isOwnUsed && isSynchronised))
        }
        #expect(
            try words(.relayClockAgrees, isSynchronised: true)
                == "this clock and that of relay.example (192.0.2.1:5004) agree again")
    }

    @Test func aTalkerThatIsRefusedForItsTimeIsNamed() throws {
        let ahead = ClockDifference(ahead: .seconds(3_600), isOwnUsed: true)
        let line = try words(.refusedForTime(.init(of: SSRC(9), .clock(ahead))), isSynchronised: true)
        #expect(line.hasPrefix("station 00000009 is not heard: that station's clock is 3600 s (1 h) ahead of this one"))
        #expect(line.contains("either clock may be wrong") && line.contains("timedatectl"))
        let doubted = try words(.refusedForTime(.init(of: SSRC(9), .clock(ahead))), isSynchronised: false)
        #expect(doubted.contains("ahead of this one, which is not synchronised over the network (NTP); let it be set"))
        let relays = ClockDifference(ahead: .seconds(-200), isOwnUsed: false)
        let other = try words(.refusedForTime(.init(of: SSRC(9), .clock(relays))), isSynchronised: false)
        #expect(other.contains("200 s (3 min 20 s) behind the relay's, whose time is used here"))
        let late = try words(.refusedForTime(.init(of: SSRC(9), .delay(.milliseconds(3_100)))), isSynchronised: true)
        #expect(late.contains("the packets come 3.1 s late") && late.contains("the clocks are not the cause"))
    }

    /// The relay's limits, where they are known, are named with their numbers, and not a second time.
    @Test func refusedPacketsAreNamedWithTheRemedy() throws {
        for reason in MediaRefusal.allCases {
            let line = try words(.mediaRefused(reason, count: 12), isSynchronised: true)
            #expect(line.hasPrefix("the relay refused 12 of your packets: ") && line.contains(";"), "\(line)")
        }
        var configuration = RadioConfiguration(local: Endpoint(.anyV4, port: 0), rtpSession: RTPSessionConfiguration())
        configuration.protection = .none
        var status = ChannelStatus(configuration)
        status.apply(.limited(TalkerLimits(packetsPerSecond: 100, bitsPerSecond: 10_000)))
        func line(_ reason: MediaRefusal) -> String? {
            status.notice(for: .mediaRefused(reason, count: 3), TalkerNames(), verbose: false)
        }
        #expect(line(.talkerRate) == nil && line(.floor) != nil)
        status.apply(.limited(TalkerLimits(packetsPerSecond: 0, bitsPerSecond: 0)))
        #expect(line(.floor) == nil && line(.takenSSRC) != nil)
    }

    @Test func whetherAStationHasLeftOrARelayStopsIsReported() throws {
        #expect(try news(of: .left) == "bob.local (192.0.2.1:5004) has left; trying again until it is back")
        #expect(try news(of: .stopping) == "the relay is stopping; trying again until it is back")
    }
}
