internal import TenfourAudioCore

/// Something that is missing from the recordings.
public enum RecorderLoss: Hashable, Sendable, CaseIterable {
    /// Packets, because the disk was too slow.
    case packets
    /// Talkers, because sixteen others were being recorded.
    case talkers
    /// Runs of the hook, because too many waited.
    case hooks
}

/// Decides which losses are news: one is if its count rises after a minute in which it did not.
struct RecorderLosses: Sendable {
    private var counts: [RecorderLoss: Int] = [:]
    private var lastRises: [RecorderLoss: Instant] = [:]

    private static let pause = Duration.seconds(60)

    mutating func isNews(_ loss: RecorderLoss, count: Int, at now: Instant) -> Bool {
        guard count > counts[loss] ?? 0 else { return false }
        counts[loss] = count
        defer { lastRises[loss] = now }
        return lastRises[loss].map { now - $0 >= Self.pause } ?? true
    }
}
