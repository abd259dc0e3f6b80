internal import TenfourAudioCore
internal import TenfourPackets

/// Measures the proportion of a source's audio that was not played in the last seconds. The counts of frames may be
/// reported at irregular times.
struct PlayedShare: Sendable {
    private struct Count: Sendable {
        var missing: FrameCount
        var due: FrameCount
        var at: Instant
    }

    /// The counts of the last `memory`, oldest first. They are at least half a second apart; only the last two may
    /// be closer.
    private var counts: [Count] = []

    private let memory: Duration
    private static let step = Duration.milliseconds(500)

    init(memory: Duration = .seconds(5)) { self.memory = memory }

    /// Adds the present counts of frames that were due and missing since the source was first heard. Smaller counts
    /// than the last ones begin a new measurement.
    mutating func update(missing: FrameCount, due: FrameCount, at now: Instant) {
        if let last = counts.last, due < last.due || missing < last.missing { counts.removeAll() }
        if counts.count > 1, now - counts[counts.count - 2].at < Self.step { counts.removeLast() }
        counts.append(Count(missing: missing, due: due, at: now))
        while counts.count > 2, now - counts[1].at >= memory { counts.removeFirst() }
    }

    /// Returns the proportion of the due audio of the last `memory` that was not played, 0…1; zero if
    /// nothing was due.
    func missingShare(at now: Instant) -> Double {
        guard let first = counts.first, let last = counts.last, now - last.at < memory, last.due > first.due else {
            return 0
        }
        return min(Double((last.missing - first.missing).rawValue) / Double((last.due - first.due).rawValue), 1)
    }
}
