import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TestSupport

extension RelayHarness {
    /// Returns a relay with one channel, a talker that has announced itself, and a listener. The datagrams sent to
    /// both have been taken.
    static func withTalkerAndListener(
        of channel: ChannelKeys
    ) -> (room: RelayHarness, talker: SimulatedMember, listener: SimulatedMember) {
        let room = RelayHarness([channel], limits: .wide)
        let talker = SimulatedMember(channel, .talk, at: .host(1))
        let listener = SimulatedMember(channel, .listen, at: .host(2))
        _ = talker.join(room) && listener.join(room)
        talker.announce(room)
        room.inbox = [:]
        return (room, talker, listener)
    }

    static func sequenceNumber(of packet: [UInt8]) -> SequenceNumber {
        SequenceNumber(rawValue: UInt16(packet[2]) << 8 | UInt16(packet[3]))
    }
}

extension SimulatedMember {
    /// Sends a NACK for these packets of `talker`.
    func ask(_ room: RelayHarness, for packets: [[UInt8]], of talker: SimulatedMember) {
        let numbers = packets.map(RelayHarness.sequenceNumber)
        report(room) { GenericNACK(sender: SSRC(3), media: talker.ssrc, sequenceNumbers: numbers).write(into: &$0) }
    }
}
