import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourRelayServer
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// An attacker between a listener and its relay, on real sockets: it records, withholds and forges announcements.
@Suite(.onItsOwnThread)
final class OnTheWayTests {
    private let channel: SocketChannel
    private let talker: SocketMember
    private let attacker: OnTheWay
    private let listener: SocketMember

    init() throws {
        channel = try SocketChannel()
        talker = SocketMember(.talk, of: channel.keys, at: channel.relay.port, ssrc: 9)
        attacker = OnTheWay(to: channel.relay.port)
        listener = SocketMember(.listen, of: channel.keys, at: attacker.port, ssrc: 5)
        attacker.member = listener
    }

    private func pump(_ others: [SocketMember] = []) {
        for member in [talker, listener] + others { member.pump() }
        attacker.pump()
        listener.pump()
        usleep(500)
    }

    private func join() throws { try channel.join([talker, listener], pump: attacker.pump) }

    private var spokenCount = 0

    /// Sends this number of packets of 20 ms in real time. When it returns, the attacker has seen all of them.
    private func talk(_ count: Int, meanwhile: (Int) -> Void = { _ in }) {
        let start = Clocks.now
        for number in 0..<count {
            while Clocks.now < start + .milliseconds(20 * number) { pump() }
            talker.speak()
            spokenCount += 1
            meanwhile(number)
        }
        for _ in 0..<10_000 where attacker.recorded.count(where: { isMedia($0.bytes) }) < spokenCount { pump() }
        pump()
    }

    private func isMedia(_ datagram: [UInt8]) -> Bool { (128...191).contains(datagram[0]) }

    /// Returns the number of replayed packets heard by a listener whose clock is `ahead` of the recording.
    private func heardAgain(_ ahead: Duration, isSynchronised: Bool) throws -> Int {
        let attacker = OnTheWay(to: channel.relay.port)
        let late = SocketMember(
            .listen, of: channel.keys, at: attacker.port, ssrc: 6, ahead: ahead, isSynchronised: isSynchronised)
        attacker.member = late
        attacker.withholds = { !$0.starts(with: [99]) || $0[2] == 8 }
        for _ in 0..<10_000 where !late.isJoined {
            attacker.pump()
            late.pump()
            usleep(500)
        }
        try #require(late.isJoined)
        let recording = self.attacker.recorded.filter { isMedia($0.bytes) || $0.bytes.starts(with: [99, 1, 8]) }
        guard let first = recording.first else { return 0 }
        let start = Clocks.now
        for (moment, datagram) in recording {
            while Clocks.now - start < moment - first.at { usleep(500) }
            attacker.send(datagram)
            late.pump()
        }
        return late.heard.count
    }

    @Test func aMemberThatJoins19SecondsAfterATalkHearsNothingOfIt() throws {
        try join()
        talk(75)
        #expect(listener.heard == Array(0..<75))
        #expect(try heardAgain(.seconds(19), isSynchronised: true) == 0)
        // A replay after two seconds is heard, which is as much as the protocol permits.
        #expect(try heardAgain(.seconds(2), isSynchronised: true) > 50)
    }

    @Test func packetsWithheldForMoreThanTwoSecondsAreNotPlayed() throws {
        try join()
        talk(20)
        var withheld: [(at: Instant, bytes: [UInt8])] = []
        attacker.withholds = { [isMedia] datagram in
            guard isMedia(datagram) else { return false }
            withheld.append((Clocks.now, datagram))
            return true
        }
        talk(30)
        attacker.withholds = nil
        #expect(withheld.count == 30)
        talk(110)
        for (moment, datagram) in withheld {
            #expect(Clocks.now - moment > .seconds(2))
            attacker.send(datagram)
        }
        talk(20)
        let heard = Set(listener.heard)
        #expect(heard.isDisjoint(with: 20..<50))
        #expect(heard.isSuperset(of: 0..<20) && heard.isSuperset(of: 50..<180))
        #expect(listener.channel.discards[.late] == 30)
    }

    @Test func forgedAnnouncementsDoNotSilenceATalker() throws {
        try join()
        let root = channel.keys.mediaRoot
        var randomness = SeededRandom(seed: 6)
        talk(150) { number in
            for ahead: Int64 in [1, 9, 119] {
                let clock = WallClock(milliseconds: UInt64(Clocks.wallMilliseconds + ahead * 1_000))
                for epoch in [
                    Epoch(at: clock, random: .random(in: 0 ... .max, using: &randomness)), Epoch(rawValue: .max),
                ] {
                    let announcement = Announcement(
                        suite: .aesCounterMode, ssrc: SSRC(9), epoch: epoch,
                        index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0)), at: clock, under: root)
                    self.attacker.send([UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) })
                }
            }
        }
        for _ in 0..<10_000 where listener.heard.count < 149 { pump() }
        // A socket buffer that overflows while the machine stalls loses some packets; a talker who is silenced loses all.
        #expect(listener.heard.count > 100)
    }

    @Test func aFalseCookieThatComesFirstKeepsNobodyOut() throws {
        var helloCount = 0
        var randomness = SeededRandom(seed: 6)
        attacker.overhears = { [unowned self] datagram in
            guard datagram.starts(with: [99, 1, 1]) else { return }
            helloCount += 1
            for _ in 0..<3 {
                let cookie = datagram[4..<20] + (0..<20).map { _ in UInt8.random(in: 0...255, using: &randomness) }
                attacker.send([99, 1, 2, 0] + cookie)
            }
        }
        try join()
        // The first HELLO leads to the join, though it may be retransmitted on a busy machine.
        #expect(helloCount <= 4)
    }
}
