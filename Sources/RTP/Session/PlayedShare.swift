internal import TenfourAudioCore
internal import TenfourPackets

/// Measures the proportion of a source's audio that the card did not play in the last five seconds. The counts of
/// frames may be reported at irregular times.
struct PlayedShare: Sendable {
    private struct Count: Sendable {
        var missing: FrameCount
        var due: FrameCount
        var at: Instant
    }

    /// The counts of the last five seconds, oldest first. They are at least half a second apart; only the last two may
    /// be closer.
    private var counts: [Count] = []

    private static let memory = Duration.seconds(5)
    private static let step = Duration.milliseconds(500)

    /// Adds the present counts of frames that were due and missing since the source was first heard. Smaller counts
    /// than the last ones begin a new measurement.
    mutating func update(missing: FrameCount, due: FrameCount, at now: Instant) {
        if let last = counts.last, due < last.due || missing < last.missing { counts.removeAll() }
        if counts.count > 1, now - counts[counts.count - 2].at < Self.step { counts.removeLast() }
        counts.append(Count(missing: missing, due: due, at: now))
        while counts.count > 2, now - counts[1].at >= Self.memory { counts.removeFirst() }
    }

    /// Returns the proportion of the due audio of the last five seconds that the card did not play, 0…1; zero if
    /// nothing was due.
    func missingShare(at now: Instant) -> Double {
        guard let first = counts.first, let last = counts.last, now - last.at < Self.memory, last.due > first.due else {
            return 0
        }
        return min(Double((last.missing - first.missing).rawValue) / Double((last.due - first.due).rawValue), 1)
    }
}
