/// Watches from its beginning on whether the machine stood still: bare timers tell.
public struct Witness: Sendable {
    /// Why a failure is excused; nil where it is not.
    let excuse: @Sendable () -> String?

    /// Of ordinary threads, and where `isUrgent` of such with the priority of audio threads, too. An ordinary timer counts when it
    /// was late by more than a buffer that follows arrivals holds on a clean link, an urgent one by more than a card's period or
    /// two.
    ///
    /// `tolerated`: by how much an ordinary timer may be late without an excuse.
    init(isUrgent: Bool, tolerated: Duration = .milliseconds(10)) {
        let (ordinary, urgent) = (BareTimer.ordinary, isUrgent ? BareTimer.urgent : nil)
        let start = BareTimer.now
        excuse = {
            let lateness = ordinary.lateness(since: start)
            let urgentLateness = urgent?.lateness(since: start) ?? .zero
            guard lateness > tolerated || urgentLateness > .milliseconds(3) else { return nil }
            let urgentText = urgent == nil ? "" : ", one of an audio thread's priority by \(urgentLateness)"
            return "a bare timer was late by \(lateness)\(urgentText)"
        }
    }

    /// A witness with a fixed answer, for tests of `InRealTime`.
    package init(excuse: @escaping @Sendable () -> String?) { self.excuse = excuse }
}
