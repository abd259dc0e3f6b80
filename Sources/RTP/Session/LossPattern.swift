internal import TenfourAudioCore
internal import TenfourPackets

/// Records which of a source's last 1024 packets the network delivered; packets recovered later count as lost.
struct LossPattern: Sendable {
    /// One bit for each packet, set if the packet arrived. Bit n of word m stands for the packet whose extended
    /// sequence number, modulo 1024, is 64m + n.
    private var bits = InlineArray<16, UInt64>(repeating: 0)
    /// The extended sequence number of the newest packet.
    private var highest: Int64 = 0
    /// The number of recorded packets, lost ones included, at most 1024.
    private(set) var count = 0

    private static let capacity = 1_024

    /// Records a packet that is newer than all earlier arrivals. The `lost` packets between the previous newest one and
    /// this one are missing.
    mutating func arrived(ahead lost: Int, as sequenceNumber: SequenceNumber, isRetransmission: Bool) {
        guard count > 0 else {
            highest = Int64(sequenceNumber.rawValue)
            set(highest, !isRetransmission)
            count = 1
            return
        }
        let next = highest + 1 + Int64(lost)
        for number in max(highest + 1, next - Int64(Self.capacity))..<next { set(number, false) }
        set(next, !isRetransmission)
        highest = next
        count = min(count + lost + 1, Self.capacity)
    }

    /// Records a packet that arrived after later packets. Its sequence number is `distance` below the highest.
    mutating func arrived(behindHighest distance: Int, isRetransmission: Bool) {
        guard !isRetransmission, distance < count else { return }
        set(highest - Int64(distance), true)
    }

    mutating func reset() { self = LossPattern() }

    /// Returns the loss among the last `limit` packets.
    func summary(ofLast limit: Int) -> LossSummary {
        var summary = LossSummary()
        var wasLost = false
        forEach(ofLast: limit) { arrived in
            summary.packetCount += 1
            if !arrived { summary.lossCount += 1 }
            if !arrived && !wasLost { summary.burstCount += 1 }
            wasLost = !arrived
        }
        return summary
    }

    /// Returns the bursts and gaps among the last `limit` packets, as RFC 3611 defines them.
    func bursts(ofLast limit: Int) -> BurstMetrics {
        var bursts = BurstMetrics()
        forEach(ofLast: limit) { bursts.count(isLost: !$0) }
        return bursts
    }

    func report(on source: SSRC, ofLast limit: Int) -> LossRLE {
        let length = min(limit, count)
        let first = highest - Int64(length) + 1
        return LossRLE(
            source: source, first: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: first)), count: length
        ) { self[first + Int64($0)] }
    }

    private func forEach(ofLast limit: Int, _ body: (_ arrived: Bool) -> Void) {
        let length = Int64(min(limit, count))
        for number in (highest - length + 1)..<(highest + 1) { body(self[number]) }
    }

    private subscript(number: Int64) -> Bool {
        let place = Int(truncatingIfNeeded: number) & (Self.capacity - 1)
        return bits[place / 64] >> UInt64(place % 64) & 1 != 0
    }

    private mutating func set(_ number: Int64, _ arrived: Bool) {
        let place = Int(truncatingIfNeeded: number) & (Self.capacity - 1)
        let bit: UInt64 = 1 << UInt64(place % 64)
        if arrived { bits[place / 64] |= bit } else { bits[place / 64] &= ~bit }
    }
}
