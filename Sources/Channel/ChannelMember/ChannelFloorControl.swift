public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourFloor

/// Requesting the floor. The relay arbitrates; `floor` says whether we may send media, and who talks.
extension Channel {
    /// The key goes down: requests the floor. `waits`: the request waits in the queue while another talks. A press with
    /// emergency priority raises the priority of a request. Has no effect without `usesFloor`.
    public mutating func pressFloor(_ priority: FloorPriority = .normal, waits: Bool = false, at now: Instant) {
        floor?.ssrc = ssrc
        floor?.press(priority, waits: waits, at: now)
        sendFloorMessages()
    }

    /// The key has gone up, and the last packet was sent: releases the floor, or takes the request back.
    public mutating func releaseFloor(at now: Instant) {
        floor?.release(at: now)
        sendFloorMessages()
    }

    /// The next event of the floor, after each input, as with `nextEvent`.
    public mutating func nextFloorEvent() -> FloorEvent? { floor?.nextEvent() }

    /// Begins with the arbiter of a new session.
    mutating func floorSessionAnswered(at now: Instant) {
        floor?.begin(at: now)
        sendFloorMessages()
    }

    /// Sends what the participant has to say. It repeats what is lost because no relay answers.
    mutating func sendFloorMessages() {
        while let message = floor?.nextMessage() {
            if isAnswered { send(.floor(message)) }
        }
    }
}
