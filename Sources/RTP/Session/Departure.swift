internal import TenfourAudioCore

/// When we left the session: until when we await the last reports of our partners, and when we repeat the BYE.
struct Departure: Sendable {
    /// The end of the wait; nil after it.
    private(set) var end: Instant?
    /// The time at which the BYE is repeated, which may have been lost; nil after it.
    private var repetition: Instant?

    /// The longest wait for the last reports.
    private static let timeout = Duration.milliseconds(500)
    /// The time after which BYE is repeated. Others forget us 200 ms after it.
    private static let repetitionDelay = Duration.milliseconds(150)

    /// Begins to wait, if we have said goodbye. Nobody answers otherwise.
    init(at now: Instant, hasSaidGoodbye: Bool) {
        guard hasSaidGoodbye else { return }
        end = now + Self.timeout
        repetition = now + Self.repetitionDelay
    }

    var deadline: Instant? { earlier(end, repetition) }

    /// Returns whether the BYE is to be repeated at `now`.
    mutating func timeElapsed(at now: Instant) -> Bool {
        if let end, end <= now { self.end = nil }
        guard let repetition, repetition <= now else { return false }
        self.repetition = nil
        return end != nil
    }
}
