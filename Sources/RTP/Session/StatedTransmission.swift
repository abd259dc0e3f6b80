internal import TenfourAudioCore
internal import TenfourPackets

/// Keeps what a participant says in its reports: whether it transmits. If it does and nothing arrives, its audio is missing.
struct StatedTransmission: Sendable, Hashable {
    /// Whether the last report says that the participant transmits.
    var isTransmitting: Bool { since != nil }
    /// Whether any report of the participant has stated a status.
    private(set) var isStated = false
    /// Whether the participant's audio is missing.
    private(set) var isMissing = false
    /// The time since which its reports say that it transmits; nil if the last one says that it does not.
    private(set) var since: Instant?
    /// The time at which the present outage began: that of the last packet, or of the first report of a transmission; nil
    /// while the audio is not missing.
    private(set) var outageBegin: Instant?
    /// Until when packets are awaited although the audio is missing by the clock: this program stood still, and they may wait
    /// in the socket. Nil while it runs in time.
    private var graceEnd: Instant?
    /// The duration of the outages that have ended.
    private var endedOutages = Duration.zero

    /// The time without packets after which audio is missing: a report of the end of a transmission has arrived by then. If
    /// packets are lost, reports may be lost, too, and the next ones are awaited.
    private static func limit(isLossy: Bool) -> Duration { isLossy ? .seconds(3) : .milliseconds(1_800) }

    /// The delay of an update from which this program has stood still, and the time in which it then reads what waits.
    private static let (standstill, grace) = (Duration.milliseconds(300), Duration.milliseconds(200))

    mutating func stated(_ isTransmitting: Bool, at now: Instant) {
        isStated = true
        since = isTransmitting ? since ?? now : nil
    }

    /// The participant transmits no more, although no report says so.
    mutating func end() { since = nil }

    /// The time at which the audio is missing if no packet arrives before; nil if it is not expected, or missing already.
    func deadline(lastPacket: Instant?, isLossy: Bool) -> Instant? {
        guard !isMissing, let since else { return nil }
        let due = max(lastPacket ?? since, since) + Self.limit(isLossy: isLossy)
        return graceEnd.map { max($0, due) } ?? due
    }

    /// Determines `isMissing` again. Returns whether it has changed.
    mutating func update(lastPacket: Instant?, isLossy: Bool, at now: Instant) -> Bool {
        let before = isMissing
        let begin = since.map { max(lastPacket ?? $0, $0) }
        if let due = begin.map({ $0 + Self.limit(isLossy: isLossy) }), now >= due {
            if !isMissing, now - due >= Self.standstill { graceEnd = graceEnd ?? now + Self.grace }
            isMissing = isMissing || now >= graceEnd ?? due
        } else {
            (isMissing, graceEnd) = (false, nil)
        }
        if isMissing {
            outageBegin = outageBegin ?? begin
        } else if let begin = outageBegin {
            endedOutages += now - begin
            outageBegin = nil
        }
        return isMissing != before
    }

    /// The time in which audio of the participant was missing, up to `now`.
    func outage(at now: Instant) -> Duration { endedOutages + (outageBegin.map { now - $0 } ?? .zero) }

    /// The event that a change of `isMissing` is.
    func event(of ssrc: SSRC) -> Event {
        isMissing ? .mediaMissing(ssrc) : .mediaReturned(ssrc, isArriving: isTransmitting)
    }
}
