internal import TenfourAudioCore
internal import TenfourPackets

/// Distinguishes our own packets, looped back by the network, from the packets of a participant that uses our SSRC (RFC
/// 3550 section 8.2).
struct LoopDetector: Sendable {
    private var sentPackets = SentPackets()
    /// The time of the last collision that made us change our SSRC.
    private var lastCollision: Instant?

    enum Finding: Equatable {
        /// We sent this packet recently; the network has looped it back.
        case loop
        /// The packet comes from another participant. `needsNewSSRC` is true at most once in
        /// `RTPSession.collisionInterval`.
        case collision(needsNewSSRC: Bool)
    }

    mutating func packetSent(_ header: RTPHeader) { sentPackets.insert(header) }

    /// Decides whether a received packet with our SSRC is our own or another participant's.
    mutating func examine(_ header: RTPHeader, at now: Instant) -> Finding {
        guard !sentPackets.contains(header) else { return .loop }
        if let lastCollision, now - lastCollision < RTPSession.collisionInterval {
            return .collision(needsNewSSRC: false)
        }
        lastCollision = now
        return .collision(needsNewSSRC: true)
    }
}
