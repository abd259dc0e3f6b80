/// Detects whether the machine has stalled since the witness was created, with the help of bare timers.
public struct Witness: Sendable {
    /// Returns the reason why a failure is excused; nil if it is not excused.
    let excuse: @Sendable () -> String?

    /// Uses the timer of ordinary priority and, if `isUrgent`, also the timer of audio priority. A failure is excused
    /// if the ordinary timer was late by more than 10 ms, which is about the playout delay on a clean link. It is also
    /// excused if the audio timer was late by more than 3 ms, one or two periods of a card.
    init(isUrgent: Bool) {
        let (ordinary, urgent) = (BareTimer.ordinary, isUrgent ? BareTimer.urgent : nil)
        let start = BareTimer.now
        excuse = {
            let lateness = ordinary.lateness(since: start)
            let urgentLateness = urgent?.lateness(since: start) ?? .zero
            guard lateness > .milliseconds(10) || urgentLateness > .milliseconds(3) else { return nil }
            let urgentText = urgent == nil ? "" : ", one of an audio thread's priority by \(urgentLateness)"
            return "a bare timer was late by \(lateness)\(urgentText)"
        }
    }

    /// Creates a witness with a fixed answer, for tests of `InRealTime`.
    package init(excuse: @escaping @Sendable () -> String?) { self.excuse = excuse }
}
