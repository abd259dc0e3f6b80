public import TenfourAudioCore

// MARK: Clocks that differ
extension Channel {
    /// The clock of the relay that we are joined at, less ours; nil while we are not joined. After `leave`, it is that of the
    /// last relay.
    public func relayClockDifference(at now: Instant) -> ClockDifference? {
        isAnswered || hasLeft ? relayClock.difference(at: now + suspended) : nil
    }

    /// The counts of what was refused for its time.
    public var refusedForTime: TimeRefusalCounts { opener.refusalCounts }

    mutating func compareClocks(at now: Instant) {
        guard isAnswered, let event = relayClock.nextEvent(at: now + suspended) else { return }
        events.post(event)
    }

    mutating func reportRefusal() {
        if let refusal = opener.takeRefusal() { events.post(.refusedForTime(refusal)) }
    }
}
