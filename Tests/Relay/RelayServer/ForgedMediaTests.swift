import Foundation
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

/// An adversary with every key of a listen link sends well-formed announcements and SRTP packets from the relay's address, by
/// a raw socket in a network namespace of the test.
@Suite(.enabled(if: NetworkNamespace.isPossible, "needs root, and ip of iproute2"), .inRealTime)
struct ForgedMediaTests {
    /// A debug build handles some thousands of datagrams a second, so the usual run has a tenth of the datagrams.
    private static let count = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 100_000 : 1_000_000

    /// The counts of one listener.
    private struct Outcome: Sendable {
        var sent = 0
        var arrived = 0
        /// Packets of the talker that does not exist, and of the real one beyond those that it has sent.
        var forged = 0
        var real = 0
        var discards = ChannelDiscardCounts()
    }

    @Test func aListenerWhoseLinkHasAFingerprintHearsNothingForged() throws {
        let outcome = try NetworkNamespace.run { try attack(count: Self.count, isProven: true) }
        #expect(outcome.sent == Self.count && outcome.forged == 0 && outcome.real > 0)
        // A loaded machine may drop datagrams before the listener reads them, and the talker's own may come too late.
        #expect(outcome.discards[.notFromRelay] > Self.count * 9 / 10, "\(outcome.discards)")
    }

    /// Shows that the attack works where the relay has not proved itself.
    @Test func aListenerOfAnOpenChannelHearsForgedMedia() throws {
        let outcome = try NetworkNamespace.run { try attack(count: 1_000, isProven: false) }
        #expect(outcome.forged > 100)
    }

    /// A real talker says a packet each 20 ms, however slow the machine is: one whose timestamps fell behind its clock would begin
    /// other epochs, which are heard apart for a moment.
    private func attack(count: Int, isProven: Bool) throws -> Outcome {
        var generator = CSPRNG()
        let family = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        let listen = ChannelKeys(name: "family", secret: family.listenSecret)
        let key = RelayKey(using: &generator)
        var configuration = RelayConfiguration()
        configuration.channels = [
            .init(name: "family", talkJoin: try #require(family.talkJoin), listenJoin: family.listenJoin)
        ]
        configuration.key = key
        let relay = try RunningRelay(RelayServerConfiguration(bind: .loopback(0), relay: configuration, workers: 1))
        let fingerprint = isProven ? RelayFingerprint(relay: key.publicKey, ownerless: family) : nil
        let talker = SocketMember(.talk, of: family, at: relay.port, ssrc: 9, fingerprint: fingerprint)
        let listener = SocketMember(.listen, of: listen, at: relay.port, ssrc: 5, fingerprint: fingerprint)
        relay.wait {
            talker.pump()
            listener.pump()
            return talker.isJoined && listener.isJoined
        }
        let adversary = try Adversary(listen, pretendingToBe: relay.port, to: listener.socket.port)
        var outcome = Outcome()
        var (spokenCount, next) = (0, Clocks.now)
        while outcome.sent < count {
            // The timestamps of the talker leave out a pause of a second or more.
            if Clocks.now - next >= .seconds(1) { next = Clocks.now }
            while next <= Clocks.now {
                talker.speak()
                (spokenCount, next) = (spokenCount + 1, next + Duration.milliseconds(20))
            }
            talker.pump()
            for _ in 0..<min(100, count - outcome.sent) {
                try adversary.send(number: outcome.sent)
                outcome.sent += 1
            }
            listener.pump()
        }
        for _ in 0..<50 {
            usleep(2_000)
            listener.pump()
        }
        outcome.real = listener.packets.count { $0.ssrc == 9 }
        outcome.forged = listener.packets.count - min(outcome.real, spokenCount)
        outcome.discards = listener.channel.discards
        outcome.arrived = outcome.discards.total + outcome.forged
        return outcome
    }
}

/// Makes datagrams as every holder of a listen link can, and sends them from the relay's address.
private final class Adversary {
    private let descriptor: Int32
    private let ports: (source: UInt16, destination: UInt16)
    private let root: MediaRoot
    private var generator = CSPRNG()
    private var sender: SRTPContext
    private var epoch: Epoch
    private var number: UInt16 = 0

    private static let ssrc = SSRC(7)

    struct NoSocket: Error {}

    init(_ keys: ChannelKeys, pretendingToBe source: UInt16, to destination: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), Int32(IPPROTO_RAW))
        guard descriptor >= 0 else { throw NoSocket() }
        ports = (source, destination)
        root = keys.mediaRoot
        epoch = Self.newEpoch
        sender = try SRTPContext(
            sending: root.masterKey(.aesCounterMode, ssrc: Self.ssrc, epoch: epoch), ssrc: Self.ssrc)
    }

    deinit { close(descriptor) }

    private static var newEpoch: Epoch {
        Epoch(
            at: WallClock(milliseconds: UInt64(Clocks.wallMilliseconds)),
            timing: .init(timestamp: RTPTimestamp(rawValue: 0), isSynchronised: true), random: 1)
    }

    /// Sends one datagram: an announcement first and then each fifty, otherwise SRTP; some of them with 12 bytes in the
    /// place of a trailer.
    func send(number: Int) throws {
        var datagram = try number % 50 == 0 ? announcement() : packet()
        if number % 3 == 1 {
            datagram += [UInt8](capacity: RelayTrailer.byteCount) {
                $0.append(number: UInt32(number / 100))
                $0.append(number: generator.next())
            }
        }
        send(datagram)
    }

    private func announcement() -> [UInt8] {
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: Self.ssrc, epoch: epoch,
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: number)),
            at: WallClock(milliseconds: UInt64(Clocks.wallMilliseconds)), under: root)
        return [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
    }

    private func packet() throws -> [UInt8] {
        // A new epoch comes before the sequence number wraps around, so that the announced index stays simple.
        if number == 60_000 {
            number = 0
            epoch = Self.newEpoch
            sender = try SRTPContext(
                sending: root.masterKey(.aesCounterMode, ssrc: Self.ssrc, epoch: epoch), ssrc: Self.ssrc)
        }
        number += 1
        var failure: SRTPError?
        let packet = [UInt8](capacity: 200) {
            RTPHeader(
                marker: number == 1, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number)), ssrc: Self.ssrc
            ).write(into: &$0)
            $0.append(repeating: 0xFC, count: 60)
            do throws(SRTPError) { try sender.protect(&$0) } catch { failure = error }
        }
        if let failure { throw failure }
        return packet
    }

    /// Sends a datagram with headers of IPv4 and UDP of our own. The kernel fills in length and checksum of IPv4; UDP needs
    /// no checksum there.
    private func send(_ body: [UInt8]) {
        let loopback: UInt32 = 0x7F00_0001
        let datagram = [UInt8](capacity: 28 + body.count) {
            $0.append(0x45)
            $0.append(repeating: 0, count: 7)
            $0.append(64)
            $0.append(UInt8(IPPROTO_UDP))
            $0.append(number: UInt16(0))
            $0.append(number: loopback)
            $0.append(number: loopback)
            $0.append(number: ports.source)
            $0.append(number: ports.destination)
            $0.append(number: UInt16(8 + body.count))
            $0.append(number: UInt16(0))
            for byte in body { $0.append(byte) }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = loopback.bigEndian
        unsafe withUnsafeBytes(of: &address) { bytes in
            let name = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            _ = unsafe sendto(descriptor, datagram, datagram.count, 0, name, socklen_t(bytes.count))
        }
    }
}
