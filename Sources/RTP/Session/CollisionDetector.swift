internal import TenfourAudioCore
internal import TenfourPackets

/// Watches the packets with a source's SSRC that arrive from another address (RFC 3550 section 8.2).
///
/// Only one other sender is watched at a time, until it has been silent for `Source.longestPause`. A flood of forged
/// packets thus needs no memory, and does not take the place of a sender that is watched already.
struct CollisionDetector: Sendable {
    private var other: (endpoint: Endpoint, newest: SequenceNumber, count: Int, at: Instant)?
    /// The number of packets of the source since the other sender was first seen.
    private var ownCount = 0
    private var hasBeenReported = false

    /// The number of packets in sequence that make the other sender valid (MIN_SEQUENTIAL in RFC 3550 appendix A.1).
    private static let minimumRun = 2
    /// The number of packets that each of the two must have sent before they count as two senders.
    private static let evidence = 10
    /// The maximum step between two packets of a sender in sequence.
    private static let longestStep = 100

    mutating func sourcePacketArrived() { if other != nil { ownCount += 1 } }

    /// Forgets the other sender, because the source has moved to its address.
    mutating func sourceMoved() { (other, ownCount) = (nil, 0) }

    /// Inserts a packet from another address than the source's. Returns whether its sender has sent at least two
    /// packets in sequence.
    mutating func insert(_ number: SequenceNumber, from sender: Endpoint, at now: Instant) -> Bool {
        if let known = other, now - known.at <= Source.longestPause {
            guard known.endpoint == sender else { return false }
            let step = number.distance(after: known.newest)
            // Ignores a duplicate and a late packet.
            guard step > 0 || step <= -Self.longestStep else { return known.count >= Self.minimumRun }
            let isNext = step > 0 && step < Self.longestStep
            other = (sender, number, isNext ? known.count + 1 : 1, now)
            if !isNext { ownCount = 0 }
            return isNext
        }
        (other, ownCount) = ((sender, number, 1, now), 0)
        return false
    }

    /// Returns the address of the other sender once, after both have sent enough.
    mutating func newCollision() -> Endpoint? {
        guard !hasBeenReported, let other, other.count >= Self.evidence, ownCount >= Self.evidence else { return nil }
        hasBeenReported = true
        return other.endpoint
    }
}
