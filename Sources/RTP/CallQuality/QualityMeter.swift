internal import TenfourAudioCore
internal import TenfourJitterBuffer
public import TenfourPackets

/// Turns counts that are passed in repeatedly into a summary of each second and of the whole.
///
/// Several talkers add up to one summary. A talker whose counts restart is taken for the same one after a pause.
public struct QualityMeter: Sendable {
    /// The whole time so far.
    public private(set) var whole = QualitySummary()
    /// The seconds that are over, from the start; only the last few when `keepsSeconds` is false.
    public private(set) var seconds: [QualitySummary] = []
    /// The summary of each talker, in the order in which they came.
    public private(set) var talkers: [(ssrc: SSRC, whole: QualitySummary)] = []

    private var current = QualitySummary()
    private var second: Int64 = 0
    private var before: [SSRC: QualityCounts] = [:]
    private let keepsSeconds: Bool

    /// The seconds in `recent`.
    private static let recentCount = 5
    /// A flood of SSRCs is not kept; a person hears no more than a few talkers.
    private static let maximumTalkerCount = 256

    public init(keepsSeconds: Bool) { self.keepsSeconds = keepsSeconds }

    /// The last five seconds and the part of the present one.
    public var recent: QualitySummary {
        var recent = QualitySummary()
        for summary in seconds.suffix(Self.recentCount) { recent.add(summary) }
        recent.add(current)
        return recent
    }

    /// Inserts the counts of a talker, `elapsed` after the start, and the playout delay if audio was played. `elapsed`
    /// must not decrease.
    public mutating func observe(
        _ counts: QualityCounts, delay: Duration? = nil, of ssrc: SSRC, at elapsed: Duration
    ) {
        advance(to: elapsed)
        guard let talker = talker(ssrc) else { return }
        var last = before[ssrc] ?? QualityCounts()
        if counts.expected < last.expected || counts.playout.decoded < last.playout.decoded { last = QualityCounts() }
        before[ssrc] = counts
        guard counts.isPlayable else { return refuse(talker, counts, since: last) }
        if counts.playout.heard > .zero { talkers[talker].whole.hasSound = true }
        if talkers[talker].whole.hasSound { (current.hasSound, whole.hasSound) = (true, true) }
        current.add(counts, since: last)
        whole.add(counts, since: last)
        talkers[talker].whole.add(counts, since: last)
        if let delay { add(delay, of: talker) }
    }

    /// Packets came and were not played, because they look encrypted. Audio made from the first of them does not count.
    private mutating func refuse(_ talker: Int, _ counts: QualityCounts, since last: QualityCounts) {
        var counts = counts
        counts.playout = last.playout
        current.add(counts, since: last)
        whole.add(counts, since: last)
        talkers[talker].whole.add(counts, since: last)
        guard talkers[talker].whole.hasSound else { return }
        talkers[talker].whole.hasSound = false
        guard !talkers.contains(where: \.whole.hasSound) else { return }
        (current.hasSound, whole.hasSound) = (false, false)
        for index in seconds.indices { seconds[index].hasSound = false }
    }

    /// Inserts the playout delay, `elapsed` after the start, while audio is played.
    public mutating func observe(delay: Duration, of ssrc: SSRC, at elapsed: Duration) {
        advance(to: elapsed)
        if let talker = talker(ssrc) { add(delay, of: talker) }
    }

    /// Ends the seconds before `elapsed`.
    public mutating func advance(to elapsed: Duration) {
        while second < elapsed.components.seconds {
            seconds.append(current)
            current = QualitySummary(after: current)
            second += 1
            if !keepsSeconds, seconds.count > Self.recentCount { seconds.removeFirst() }
        }
    }

    /// The report. The present second counts as a whole one.
    public var report: QualityReport {
        QualityReport(whole: whole, seconds: seconds + [current], talkers: talkers)
    }

    private mutating func add(_ delay: Duration, of talker: Int) {
        current.add(delay)
        whole.add(delay)
        talkers[talker].whole.add(delay)
    }

    private mutating func talker(_ ssrc: SSRC) -> Int? {
        if let index = talkers.firstIndex(where: { $0.ssrc == ssrc }) { return index }
        guard talkers.count < Self.maximumTalkerCount else { return nil }
        talkers.append((ssrc, QualitySummary()))
        return talkers.count - 1
    }
}
