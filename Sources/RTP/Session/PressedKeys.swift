internal import TenfourAudioCore
internal import TenfourPackets

/// Tells the presses of keys apart by one source's telephone events. All packets of a press have the timestamp of its
/// beginning (RFC 4733 section 2.2).
struct PressedKeys: Sendable {
    private var newest: (event: TelephoneEvent, timestamp: RTPTimestamp, at: Instant)?

    /// The shortest time between two presses: 40 ms of tone and 40 ms of silence (ITU-T Q.24). Faster ones are not
    /// reported, so that no sender can flood a log.
    private static let shortestInterval = Duration.milliseconds(60)

    /// Returns whether a packet is the first of a press.
    mutating func isNew(_ event: TelephoneEvent, timestamp: RTPTimestamp, at now: Instant) -> Bool {
        if let newest {
            if newest.timestamp == timestamp { return false }
            guard timestamp.distance(after: newest.timestamp) > .zero, now - newest.at >= Self.shortestInterval else {
                return false
            }
        }
        newest = (event, timestamp, now)
        return true
    }
}
