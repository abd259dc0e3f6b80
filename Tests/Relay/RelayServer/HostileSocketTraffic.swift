import TenfourChannelKeys
import TenfourPackets
import TestSupport

/// The packets of one talker over real sockets, and datagrams that other members and strangers make of them.
struct HostileSocketTraffic {
    var talker: TestMember
    var listener: TestMember
    /// A talker of the same channel, a talker of another one, a listener, and a talker of the channel at another relay.
    private var members: [TestMember]
    private let stranger = Stranger()
    private let port: UInt16
    private var randomness = CSPRNG()
    private var recorded: [[UInt8]] = []

    private final class Stranger {
        let socket = PlainSocket()
    }

    /// Lets the members join. The talker has SSRC 7, as `rtp` writes it.
    init(to relay: RunningRelay, elsewhere: RunningRelay, family: ChannelKeys, others: ChannelKeys) throws {
        port = relay.port
        talker = try TestMember(.talk, of: family, at: relay.port)
        members = [
            try TestMember(.talk, of: family, at: relay.port), try TestMember(.talk, of: others, at: relay.port),
            try TestMember(.listen, of: family, at: relay.port), try TestMember(.talk, of: family, at: elsewhere.port),
        ]
        listener = try TestMember(.listen, of: family, at: relay.port)
        talker.announce(SSRC(7))
        members[1].announce(SSRC(8))
        _ = listener.heard(1)
    }

    mutating func renewLeases() {
        for index in members.indices {
            members[index].renew()
            _ = members[index].heard(.max, within: 1)
        }
        talker.renew()
        _ = talker.heard(.max, within: 1)
        listener.renew()
    }

    /// Sends a packet of the talker. Returns whether the listener heard it next.
    mutating func talk(_ number: Int) -> Bool {
        var packet = rtp(UInt8(truncatingIfNeeded: number))
        packet[2] = UInt8(truncatingIfNeeded: number >> 8)
        let tagged = talker.tagged(packet)
        talker.send(tagged)
        recorded.append(tagged)
        if recorded.count > 300 { recorded.removeFirst(100) }
        return listener.nextMedia() == packet
    }

    /// Sends a datagram that must not be forwarded. At least one packet of the talker was sent before.
    mutating func sendHostileDatagram(_ number: Int) {
        let datagram = hostileDatagram(number)
        switch randomness.next() % 4 {
        case 0: talker.send(datagram)
        case 1: stranger.socket.send(datagram, toPort: port)
        case 2: listener.send(datagram)
        default: members[Int(randomness.next() % 3)].send(datagram)
        }
    }

    private mutating func hostileDatagram(_ number: Int) -> [UInt8] {
        let real = recorded[Int(randomness.next() % UInt64(recorded.count))]
        switch randomness.next() % 6 {
        case 0: return real
        case 1:
            var changed = real
            changed[Int(randomness.next() % UInt64(changed.count))] ^= 1 << UInt8(randomness.next() % 8)
            return changed
        case 2: return Array(real.prefix(Int(1 + randomness.next() % UInt64(real.count - 1))))
        case 3: return Array(real.dropLast(HopTag.byteCount))
        // Other members use the talker's SSRC with their own keys.
        case 4: return members[Int(randomness.next() % 4)].tagged(rtp(UInt8(truncatingIfNeeded: number)))
        default: return talker.said[Int(randomness.next() % 3)]
        }
    }
}
