/// Handles the loss of a card and its return: closes the card and reopens it by a schedule. Used for playback and
/// capture. A card can also be closed on purpose, until it is needed again.
struct LostCard: ~Copyable {
    /// Collects the differences between a reopened card and the card before its loss.
    let changes = CardChanges()
    private var schedule: CardReopeningSchedule?
    private var reopening = CardReopening()
    /// Whether the card is closed on purpose.
    private(set) var isClosed = false

    /// Whether the card is lost or closed at present.
    var isLost: Bool { @_noAllocation @_noLocks get { schedule != nil || isClosed } }

    /// Closes `device` until `reopen`.
    mutating func close(_ device: inout PCMDevice) {
        device.close()
        // Leaves an attempt that goes on to itself: what it opens is closed.
        if schedule != nil { reopening = CardReopening() }
        schedule = nil
        isClosed = true
    }

    /// Begins to reopen a card that was closed on purpose.
    mutating func reopen(now: Int64) {
        isClosed = false
        schedule = CardReopeningSchedule(firstAttempt: now)
    }

    /// Closes `device`, which was lost at `now` (nanoseconds).
    @_noAllocation @_noLocks
    mutating func begin(_ device: inout PCMDevice, now: Int64) {
        device.close()
        schedule = CardReopeningSchedule(now: now)
    }

    /// Tries to reopen `device` on another thread, at the times of the schedule. Returns true once `device` is the
    /// reopened card.
    ///
    /// Exempt from the allocation check: it allocates only while there is no card.
    @_semantics("no_performance_analysis")
    mutating func isBack(_ device: inout PCMDevice) -> Bool {
        switch schedule?.step(reopening.outcome, now: PCMCalls.now()) {
        case .begin: device.beginReopening(reopening, changes)
        case .abandon:
            reopening = CardReopening()
            device.beginReopening(reopening, changes)
        case .take:
            guard let found = reopening.take() else { return false }
            device = found
            schedule = nil
            return true
        case .wait, nil: break
        }
        return false
    }
}
