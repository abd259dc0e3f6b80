import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// Somebody with a listen link interferes with a talker, on real sockets: what it makes is heard beside the talker.
@Suite(.onItsOwnThread, .inRealTime)
struct InterferenceSocketTests {
    private let channel: SocketChannel
    /// The duration of the talk.
    private static let packetCount = 400

    init() throws { channel = try SocketChannel() }

    /// An attacker with a listen link and the relay's address announces epochs ahead, each with one forged packet.
    @Test(arguments: [500, 2_000]) func aListenLinkDoesNotSilenceATalker(beginning: Int) throws {
        let way = OnTheWay(to: channel.relay.port)
        let talker = SocketMember(.talk, of: channel.keys, at: channel.relay.port, ssrc: 9)
        let listener = SocketMember(.listen, of: channel.keys, at: way.port, ssrc: 5)
        way.member = listener
        try channel.join([talker, listener], pump: way.pump)
        let forger = Forger(ChannelKeys(name: "family", secret: channel.keys.listenSecret).mediaRoot)
        let start = Clocks.now
        var attack = start + .milliseconds(beginning)
        for number in 0..<Self.packetCount {
            while Clocks.now < start + .milliseconds(20 * number) {
                for member in [talker, listener] { member.pump() }
                way.pump()
                usleep(500)
            }
            talker.speak()
            // The talker is heard before: a loaded machine may deliver its first packets late.
            guard Clocks.now >= attack, listener.packets.count >= 25 else { continue }
            let forged = try forger.epochsAhead(6, of: SSRC(9), timestamp: UInt32(number) * 960)
            for datagram in forged { way.send(datagram) }
            attack = Clocks.now + .seconds(4)
        }
        for _ in 0..<100 {
            way.pump()
            listener.pump()
            usleep(1_000)
        }
        let heard = listener.packets.filter { $0.ssrc == 9 }.map(\.number)
        #expect(Set(heard).count >= Self.packetCount * 95 / 100)
        #expect(heard.allSatisfy { $0 < Forger.firstNumber })
        #expect(listener.packets.contains { $0.number >= Forger.firstNumber }, "the attack has worked before")
        #expect(listener.events.count { if case .interference = $0 { true } else { false } } == 1)
        #expect(talker.channel.interferenceCount == 0)
    }
}

/// Makes what everybody with a listen link can make.
private struct Forger {
    private let root: MediaRoot
    /// The numbers of forged packets begin here.
    static let firstNumber: UInt16 = 20_000

    init(_ root: MediaRoot) { self.root = root }

    /// Returns announcements of `count` epochs ahead of the present, each followed by one packet.
    func epochsAhead(_ count: Int, of ssrc: SSRC, timestamp: UInt32) throws -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        for number in 0..<count {
            let clock = UInt64(Clocks.wallMilliseconds)
            let epoch = Epoch(
                at: WallClock(milliseconds: clock + 1_000 + 100 * UInt64(number)),
                timing: .init(timestamp: RTPTimestamp(rawValue: timestamp &+ 48_000), isSynchronised: true), random: 1)
            let index = PacketIndex(
                rolloverCounter: 0, SequenceNumber(rawValue: Self.firstNumber + UInt16(number)))
            let announcement = Announcement(
                suite: .aesCounterMode, ssrc: ssrc, epoch: epoch, index: index, at: WallClock(milliseconds: clock),
                under: root)
            datagrams.append([UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) })
            var sender = try SRTPContext(
                sending: root.masterKey(.aesCounterMode, ssrc: ssrc, epoch: epoch), ssrc: ssrc, at: index)
            datagrams.append(
                try [UInt8](capacity: 200) {
                    RTPHeader(
                        marker: false, payloadType: 111, sequenceNumber: index.sequenceNumber,
                        timestamp: RTPTimestamp(rawValue: timestamp), ssrc: ssrc
                    ).write(into: &$0)
                    $0.append(repeating: 0xEE, count: 60)
                    try sender.protect(&$0)
                })
        }
        return datagrams
    }
}
