internal import TenfourPackets

/// Compares the number that a source states as that of its last packet with the highest one that has arrived.
///
/// Both wrap after 65 536 packets, and in a long outage more may be sent: the distance is carried on from statement to
/// statement.
struct StatedPackets: Sendable {
    /// The number of packets after the highest one that has arrived which are lost. It falls only when packets arrive,
    /// and then the number of lost packets before them grows by as many.
    private(set) var lostCount = 0
    /// The last number that was stated; nil before the first.
    private var last: SequenceNumber?
    /// The number of packets from the highest that has arrived to the last one stated; negative if later ones have arrived.
    private var lead = 0
    /// Whether packets have arrived since the last statement.
    private var hasArrived = false

    /// Whether packets are still awaited.
    var isBehind: Bool { lead > 0 }

    mutating func stated(_ number: SequenceNumber, highest: SequenceNumber) {
        lead =
            if let last, !hasArrived { lead + number.distance(after: last) } else { number.distance(after: highest) }
        (last, hasArrived) = (number, false)
    }

    /// A packet has arrived whose number is `step` after the highest one before.
    mutating func packetArrived(step: Int) {
        lead -= step
        lostCount = max(lostCount - step, 0)
        hasArrived = true
    }

    /// Counts the packets that have not arrived as lost: none is on the way any more.
    mutating func settle() { lostCount = max(lostCount, lead) }
}
