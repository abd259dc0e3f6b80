import Foundation
import Synchronization
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// Attacks on a relay over real sockets, by attackers with and without a link.
@Suite(.onItsOwnThread)
struct AttackTests {
    private let family: ChannelKeys = {
        var generator = CSPRNG()
        return ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
    }()

    private func relay(_ change: (inout RelayLimits) -> Void) throws -> RunningRelay {
        var relay = RelayConfiguration()
        change(&relay.limits)
        relay.channels =
            family.talkJoin.map {
                [.init(name: family.name, talkJoin: $0, listenJoin: family.listenJoin)]
            } ?? []
        return try RunningRelay(RelayServerConfiguration(bind: .anyLoopbackPort, relay: relay))
    }

    /// Four listeners of one host fill a channel of four before its talker joins.
    @Test func listenersOfOneHostDoNotLockTheTalkerOut() throws {
        let relay = try relay { $0.channelMembers = 4 }
        var listeners: [TestMember] = []
        var refused: [Refusal.Reason] = []
        for _ in 0..<4 {
            do {
                listeners.append(try TestMember(.listen, of: family, at: relay.port))
            } catch let error as TestMember.Refused {
                refused.append(error.reason)
            }
        }
        #expect(listeners.count == 2 && refused == [.full, .full])
        var talker = try TestMember(.talk, of: family, at: relay.port)
        talker.announce(SSRC(7))
        talker.speak(rtp(1))
        #expect(listeners[0].nextMedia() == rtp(1))
        // A listener from another host displaces the newer of the two.
        var other = try TestMember(.listen, of: family, at: relay.port, from: 0x7F00_0101)
        talker.announce(SSRC(7))
        talker.speak(rtp(2))
        #expect(other.nextMedia() == rtp(2) && listeners[0].nextMedia() == rtp(2))
        #expect(listeners[1].nextMedia(within: 500) == rtp(1))
        _ = listeners[1].heard(10, within: 200)
        #expect(listeners[1].goodbye != nil)
        relay.wait { $0.relay.discards[.full] == 2 }
    }

    /// Ten members with the talk link talk at the same time.
    @Test func talkersBeyondTheBoundsAreNotPassedOn() throws {
        let relay = try relay {
            $0.channelTalkers = 4
            $0.channelVoices = 2
        }
        var listener = try TestMember(.listen, of: family, at: relay.port)
        var talkers: [TestMember] = []
        for _ in 0..<6 { talkers.append(try TestMember(.talk, of: family, at: relay.port)) }
        for index in talkers.indices { talkers[index].announce(SSRC(UInt32(index + 1))) }
        for number: UInt8 in 0..<5 {
            for index in talkers.indices {
                var packet = rtp(number)
                packet[11] = UInt8(index + 1)
                talkers[index].speak(packet)
            }
        }
        relay.wait { status in
            let discards = status.relay.discards
            return discards[.tooManyTalkers] == 2 && discards[.tooManyVoices] == 10 && discards[.unannounced] == 10
        }
        var heard: Set<UInt8> = []
        while let packet = listener.nextMedia(within: 300) { heard.insert(packet[11]) }
        #expect(heard == [1, 2])
    }

    /// A network of hosts with valid cookies keeps sending JOINs with wrong proofs.
    @Test func aFloodOfFailedProofsKeepsNobodyOut() throws {
        let relay = try relay { _ in }
        var randomness = CSPRNG()
        let key = try #require(family.joinKey(for: .listen))
        let name = RelayID(host: "127.0.0.1", port: relay.port)
        // 127.1.2.1 and the following addresses, which are one /24.
        var attackers: [Attacker] = []
        for number: UInt32 in 1...200 {
            let socket = Attacker(at: 0x7F01_0200 + number)
            var joining = JoinAttempt(key, relay: name, using: &randomness)
            socket.socket.send([UInt8](capacity: 128) { joining.write(into: &$0) }, toPort: relay.port)
            guard let cookie = socket.socket.receive(within: 5_000) else { continue }
            _ = joining.receive(cookie.span)
            socket.join = [UInt8](capacity: 128) { joining.write(into: &$0) }
            socket.join[127] ^= 1
            attackers.append(socket)
        }
        #expect(attackers.count == 200)
        let flood = Flood(attackers, toPort: relay.port)
        defer { flood.stop() }
        for host: UInt32 in [0x7F00_0001, 0x7F00_0301] {
            // Tries for 20 s, and throws if it was not let in.
            var talker = try TestMember(.talk, of: family, at: relay.port, from: host)
            talker.leave()
        }
        relay.wait { $0.relay.discards[.tooManyFailures] > 0 && $0.relay.discards[.unproved] > 0 }
    }
}

/// A host and the datagram that it keeps sending.
@safe private final class Attacker: @unchecked Sendable {
    let socket: PlainSocket
    var join: [UInt8] = []

    init(at host: UInt32) { socket = PlainSocket(at: host) }
}

/// Lets all attackers send on one thread until `stop`, as fast as the relay reads: its socket's buffer does not overflow, whatever
/// the speed of the machine.
private final class Flood: Sendable {
    private let isOver = Atomic(false)
    private let end = DispatchSemaphore(value: 0)

    init(_ attackers: [Attacker], toPort port: UInt16) {
        Thread.detachNewThread { [self] in
            while !isOver.load(ordering: .relaxed) {
                for attacker in attackers { attacker.socket.send(attacker.join, toPort: port) }
                repeat { usleep(30_000) } while !isOver.load(ordering: .relaxed) && Self.hasUnread(port)
            }
            end.signal()
        }
    }

    /// Whether datagrams wait in the buffer of the IPv4 socket with this port. `/proc/net/udp` has the local address and port, the remote ones, the
    /// state, and the bytes in the two queues (proc(5)).
    private static func hasUnread(_ port: UInt16) -> Bool {
        guard let table = try? String(contentsOfFile: "/proc/net/udp", encoding: .utf8) else { return false }
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
        return table.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            return fields.count > 4 && fields[1].hasSuffix(suffix) && !fields[4].hasSuffix(":00000000")
        }
    }

    func stop() {
        if isOver.exchange(true, ordering: .relaxed) { return }
        end.wait()
    }
}
