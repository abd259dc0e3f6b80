import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// The packets of one talker, and datagrams that other members, eavesdroppers and strangers make of them.
struct HostileTraffic {
    let talker: SimulatedMember
    /// Another talker of the channel, a talker of another channel, and a listener of the first channel.
    private let second, crosser, listener: SimulatedMember
    /// A member with the talker's address, SSRC and channel keys, but with a session at another relay.
    private let elsewhere: SimulatedMember
    private let renewals: [[UInt8]]
    private let addresses: [Endpoint]
    private var randomness = SeededRandom(seed: 21)
    /// Packets that the relay has received.
    private var recorded: [[UInt8]] = []
    /// Packets that were held back, so the relay has not received them; oldest first.
    private var held: [[UInt8]] = []

    /// Lets the members join `room`, a relay that carries `family` and `other`.
    init(in room: RelayHarness, family: ChannelKeys, other: ChannelKeys) {
        talker = SimulatedMember(family, .talk, at: .host(1))
        second = SimulatedMember(family, .talk, at: .host(2))
        crosser = SimulatedMember(other, .talk, at: .host(3))
        listener = SimulatedMember(family, .listen, at: .host(4))
        elsewhere = SimulatedMember(family, .talk, at: .host(1), seed: 5)
        for member in [talker, second, crosser, listener] { #expect(member.join(room)) }
        for member in [talker, second, crosser] { member.announce(room) }
        elsewhere.join(RelayHarness([family], seed: 2))
        elsewhere.ssrc = talker.ssrc
        addresses = [talker, second, crosser, listener].map(\.endpoint) + [.host(9)]
        renewals = [talker, listener].map { $0.sealed(.renewal(token: 1)) }
        for (member, renewal) in zip([talker, listener], renewals) { room.receive(renewal, from: member.endpoint) }
    }

    func renewLeases(in room: RelayHarness) {
        for member in [talker, second, crosser, listener] { member.renew(room) }
        room.inbox = [:]
    }

    /// Returns the talker's next packet. Returns nil if the packet is held back to be sent late; the first twenty
    /// always are.
    mutating func nextValidPacket(holdsBack: Bool) -> [UInt8]? {
        let packet = talker.tagged(talker.packet(byteCount: 60))
        guard held.count >= 20, !holdsBack else {
            held.append(packet)
            return nil
        }
        recorded.append(packet)
        if recorded.count > 300 { recorded.removeFirst(100) }
        return packet
    }

    /// Returns a datagram that must not be forwarded, and its sender. Returns nil if it would be a late packet and
    /// `mayBeLate` is false.
    mutating func nextHostileDatagram(mayBeLate: Bool) -> (datagram: [UInt8], sender: Endpoint)? {
        let sender = addresses[Int(randomness.next() % UInt64(addresses.count))]
        switch randomness.next() % 10 {
        case 0: return (recordedPacket(), sender)
        case 1: return (crosser.tagged(crosser.packet(talker.ssrc, byteCount: 60)), sender)
        case 2: return (listener.tagged(listener.packet(talker.ssrc, byteCount: 60)), sender)
        case 3: return (elsewhere.tagged(elsewhere.packet(byteCount: 60)), sender)
        case 4: return (second.tagged(second.packet(talker.ssrc, byteCount: 60)), sender)
        case 5: return (talker.packet(byteCount: 72), sender)
        case 6:
            var changed = recordedPacket()
            changed[Int(randomness.next() % UInt64(changed.count))] ^= 1 << UInt8(randomness.next() % 8)
            return (changed, sender)
        case 7:
            let cut = recordedPacket()
            return (Array(cut.prefix(Int(randomness.next() % UInt64(cut.count)))), sender)
        case 8:
            // A late packet lies behind the replay window, so the relay cannot know whether it is a duplicate.
            guard mayBeLate, let late = held.first else { return nil }
            return (late, sender)
        default:
            var record = renewals[Int(randomness.next() % 2)]
            if randomness.next() % 2 == 0 { record[Int(randomness.next() % 82)] ^= 1 }
            return (record, sender)
        }
    }

    private mutating func recordedPacket() -> [UInt8] { recorded.randomElement(using: &randomness) ?? renewals[0] }
}
