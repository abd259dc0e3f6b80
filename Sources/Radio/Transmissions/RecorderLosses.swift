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

/// Decides when it is reported that recordings were removed for the limits: once a minute at most, with their number.
struct RecorderRemovals: Sendable {
    private var count = 0
    private var lastReport: Instant?

    private static let pause = Duration.seconds(60)

    mutating func add(_ count: Int) { self.count += count }

    /// Returns the number to report now; nil for none. With `isLast` there is no later report.
    mutating func news(at now: Instant, isLast: Bool = false) -> Int? {
        guard count > 0, isLast || lastReport.map({ now - $0 >= Self.pause }) ?? true else { return nil }
        defer { (count, lastReport) = (0, now) }
        return count
    }
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
