internal import TenfourAudioCore
internal import TenfourJitterBuffer
public import TenfourPackets

/// Computes a summary of each second and of the whole time from counts that the caller passes in repeatedly.
///
/// A summary adds up the counts of all talkers. If the counts of a talker begin again at zero, they are those of the
/// same talker after a pause.
public struct QualityMeter: Sendable {
    /// The summary of the whole time so far.
    public private(set) var whole = QualitySummary()
    /// The summaries of the completed seconds, oldest first: all of them, or the last five if `keepsSeconds` is false.
    public private(set) var seconds: [QualitySummary] = []
    /// The summary of each talker, in order of first appearance.
    public private(set) var talkers: [(ssrc: SSRC, whole: QualitySummary)] = []

    private var current = QualitySummary()
    private var second: Int64 = 0
    private var before: [SSRC: QualityCounts] = [:]
    /// The outages of each talker until the last observation, and whether one was going on then.
    private var outages: [SSRC: (duration: Duration, isPresent: Bool)] = [:]
    private let keepsSeconds: Bool

    /// The number of completed seconds that `recent` summarises.
    private static let recentCount = 5
    /// The maximum number of talkers that are measured. Further talkers are ignored, so that a flood of SSRCs cannot
    /// fill the memory.
    private static let maximumTalkerCount = 256

    public init(keepsSeconds: Bool) { self.keepsSeconds = keepsSeconds }

    /// The summary of the last five seconds and of the present incomplete one.
    public var recent: QualitySummary {
        var recent = QualitySummary()
        for summary in seconds.suffix(Self.recentCount) { recent.add(summary) }
        recent.add(current)
        return recent
    }

    /// Adds the counts of a talker at the time `elapsed` after the start, and the playout delay if audio was played.
    /// `elapsed` must not decrease.
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

    /// Adds the counts of a talker whose packets look encrypted and are not played. Audio decoded from the talker's
    /// first packets, before they looked encrypted, does not count.
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

    /// Adds a sample of the playout delay at the time `elapsed` after the start. Call it while audio is played.
    public mutating func observe(delay: Duration, of ssrc: SSRC, at elapsed: Duration) {
        advance(to: elapsed)
        if let talker = talker(ssrc) { add(delay, of: talker) }
    }

    /// Adds what is new in `outage`, the time since the talker's first packet or report in which it was transmitting and
    /// nothing arrived. An outage is noticed late: the new part ends at `elapsed`, and counts in the seconds in which it
    /// was.
    public mutating func observe(outage: Duration, of ssrc: SSRC, at elapsed: Duration) {
        advance(to: elapsed)
        let last = outages[ssrc] ?? (.zero, false)
        let step = outage < last.duration ? outage : outage - last.duration
        guard outage > .zero || last.duration > .zero, let talker = talker(ssrc) else { return }
        outages[ssrc] = (outage, step > .zero)
        guard step > .zero else { return }
        whole.add(outage: step, isFirst: !last.isPresent)
        talkers[talker].whole.add(outage: step, isFirst: !last.isPresent)
        var begin = max(elapsed - step, .zero)
        var isFirst = !last.isPresent
        while begin < elapsed {
            let number = begin.components.seconds
            let end = min(.seconds(number + 1), elapsed)
            addOutage(end - begin, isFirst: isFirst, inSecond: number)
            (begin, isFirst) = (end, false)
        }
    }

    /// Adds a part of an outage to the present second or to an earlier one, if that is kept.
    private mutating func addOutage(_ outage: Duration, isFirst: Bool, inSecond number: Int64) {
        guard number < second else { return current.add(outage: outage, isFirst: isFirst) }
        let index = seconds.count - Int(second - number)
        if index >= 0 { seconds[index].add(outage: outage, isFirst: isFirst) }
    }

    /// Completes the seconds that ended before `elapsed`.
    public mutating func advance(to elapsed: Duration) {
        while second < elapsed.components.seconds {
            seconds.append(current)
            current = QualitySummary(after: current)
            second += 1
            if !keepsSeconds, seconds.count > Self.recentCount { seconds.removeFirst() }
        }
    }

    /// The report of the whole time. The present second is listed like the completed ones.
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
