import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// A flood of messages about a channel's floor, on real sockets.
@Suite(.onItsOwnThread, .inRealTime)
struct FloorFloodTests {
    private static let duration = Duration.seconds(3)
    private static let participantCount = 100
    private static let attackerCount = 30

    private let turns, other: ChannelKeys
    private let relay: RunningRelay

    init() throws {
        var generator = CSPRNG()
        turns = ChannelKeys(name: "turns", secret: Secret(.talk, using: &generator))
        other = ChannelKeys(name: "other", secret: Secret(.talk, using: &generator))
        var configuration = RelayConfiguration()
        configuration.channels = try [turns, other].map {
            .init(name: $0.name, talkJoin: try #require($0.talkJoin), listenJoin: $0.listenJoin)
        }
        configuration.channels[0].floor = FloorArbiter.Configuration()
        relay = try RunningRelay(RelayServerConfiguration(bind: .anyLoopbackPort, relay: configuration, workers: 1))
    }

    private func members(_ count: Int, network: UInt32) throws -> [TestMember] {
        try (0..<count).map {
            try TestMember(.talk, of: turns, at: relay.port, from: 0x7F00_0001 + (network + UInt32($0)) << 8)
        }
    }

    /// Each attacker sends 30 messages a second: it requests the floor and releases it, in turns.
    @Test func theRelaySendsTheBudgetOfTheChannelAndForwardsTheOther() throws {
        let talker = SocketMember(.talk, of: other, at: relay.port, ssrc: 9)
        let listener = SocketMember(.listen, of: other, at: relay.port, ssrc: 5)
        for _ in 0..<10_000 where !(talker.isJoined && listener.isJoined) {
            for member in [talker, listener] { member.pump() }
            usleep(500)
        }
        var participants = try members(Self.participantCount, network: 1)
        var attackers = try members(Self.attackerCount, network: 200)
        for index in participants.indices { participants[index].say(.floor(.queuePositionRequest(number: 0, SSRC(1)))) }
        usleep(300_000)
        for index in participants.indices { _ = participants[index].takeAll() }
        var receivedCount = 0
        var spokenCount = 0
        let start = Clocks.now
        var millisecond = 0
        while Clocks.now < start + Self.duration {
            for index in attackers.indices where (millisecond + index) % 33 == 0 {
                let (turn, ssrc) = ((millisecond + index) / 33, SSRC(UInt32(100 + index)))
                let number = UInt32(turn / 2 + 1)
                attackers[index].say(
                    .floor(
                        turn % 2 == 0
                            ? .request(number: number, ssrc, .normal, waits: false, sends: false)
                            : .release(number: number, ssrc)))
                receivedCount += attackers[index].takeAll()
            }
            if millisecond % 20 == 0 {
                talker.speak()
                spokenCount += 1
            }
            for member in [talker, listener] { member.pump() }
            for index in participants.indices where (millisecond + index) % 50 == 0 {
                receivedCount += participants[index].takeAll()
            }
            millisecond += 1
            while Clocks.now < start + .milliseconds(millisecond) { usleep(200) }
        }
        let lasted = (Clocks.now - start) / .seconds(1)
        for _ in 0..<100 {
            listener.pump()
            usleep(1_000)
        }
        for index in participants.indices { receivedCount += participants[index].takeAll() }
        for index in attackers.indices { receivedCount += attackers[index].takeAll() }
        // 1000 records a second, and a burst of 250.
        #expect(Double(receivedCount) <= 250 + 1_000 * (lasted + 0.5), "\(receivedCount)")
        #expect(receivedCount > 1_000, "the participants hear of the floor")
        #expect(listener.packets.count >= spokenCount * 99 / 100, "\(listener.packets.count) of \(spokenCount)")
    }
}
