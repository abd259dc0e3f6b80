internal import TenfourPackets

/// Numbers one source's packets of audio without the packets between them that carry none: telephone events (RFC 4733),
/// comfort noise (RFC 3389), and payload types that are not played. These share the sequence numbers of the audio, so
/// without this a packet of audio would seem to be lost in the place of each.
struct AudioNumbering: Sendable {
    private var newest: SequenceNumber?
    /// Bit n stands for the packet that is n packets before `newest`: whether it carried no audio.
    private var others: UInt128 = 0
    /// The number of a packet less that of its audio. Each packet without audio adds one, and another stream sets it anew.
    private var offset: UInt16 = 0

    /// The number of packets that `others` covers. A step of as many packets or more is a jump.
    private static let reach = UInt128.bitWidth

    /// Returns the number of a packet of audio. The packets after a jump are numbered anew, by the same difference.
    mutating func number(of packet: SequenceNumber) -> SequenceNumber {
        let later = others & (1 << UInt128(age(of: packet)) - 1)
        return SequenceNumber(rawValue: packet.rawValue &- offset &+ UInt16(later.nonzeroBitCount))
    }

    /// Returns how many packets in a row without audio come directly before this packet of audio.
    mutating func othersBefore(_ packet: SequenceNumber) -> Int {
        let age = age(of: packet) + 1
        return age < Self.reach ? (~(others >> UInt128(age))).trailingZeroBitCount : 0
    }

    /// Records a packet without audio. A late one leaves a gap, because the audio after it has its numbers already.
    mutating func skip(_ packet: SequenceNumber) {
        guard let newest, (1..<Self.reach).contains(packet.distance(after: newest)) else { return }
        _ = age(of: packet)
        others |= 1
        offset &+= 1
    }

    /// Continues with a packet of audio of another stream: its audio has the number after the newest packet's.
    mutating func restart(with packet: SequenceNumber) {
        guard let newest else { return }
        // The number after that of the newest audio, whether the newest packet carried audio or not.
        let next = number(of: newest).advanced(by: 1)
        (self.newest, others, offset) = (packet, 0, packet.rawValue &- next.rawValue)
    }

    /// Returns how many packets this one is older than the newest. It becomes the newest if it is newer or has jumped.
    private mutating func age(of packet: SequenceNumber) -> Int {
        let step = newest.map { packet.distance(after: $0) } ?? Self.reach
        guard step > 0 || step <= -Self.reach else { return -step }
        others = step < Self.reach && step > 0 ? others << UInt128(step) : 0
        newest = packet
        return 0
    }
}
