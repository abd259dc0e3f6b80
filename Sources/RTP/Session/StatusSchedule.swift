internal import TenfourAudioCore

/// Decides when we send a brief report, which carries our status and report blocks alone, between the reports of
/// `ReportSchedule` (Protocol/02-rtcp.md, "Brief reports").
///
/// While audio arrives, and for five seconds after, the sources learn once a second how we receive them. When we
/// stop transmitting, our listeners learn that nothing more is to come. A remote that we do not hear may talk, and learns
/// that it is not heard.
struct StatusSchedule: Sendable {
    /// The beginning of the session.
    let begin: Instant
    /// The time of the last report, brief or not; nil before the first.
    private var last: Instant?
    /// Whether something has changed that the other participants should read at once.
    private var hasNews = false

    /// What the decision depends on.
    struct Situation {
        /// Whether any participant states a status. Others read no brief reports.
        var hasReaders: Bool
        /// The time of the last packet of any source; nil before the first.
        var lastArrival: Instant?
        /// The time since which the audio of a participant that says that it transmits is missing; nil if none is.
        var missingSince: Instant?
        /// The time since which the only configured remote is not heard, maybe a future one; nil if there are several or none.
        var silenceBegin: Instant?
        /// The time of our last packet; nil before the first.
        var lastSent: Instant?
        /// Whether a receiver of our stream loses packets, so that single reports may be lost.
        var isLossy: Bool
        /// The number of members of the session, and the interval at which the reports of all of them take 5% of the bit
        /// rate.
        var memberCount: Int
        var fairInterval: Duration
    }

    /// The interval of brief reports in a session of at most `fewMembers` members. There, each path carries the reports of
    /// its two ends alone, so that they take at most 5% of its bit rate.
    private static let interval = Duration.seconds(1)
    private static let fewMembers = 9
    /// The interval while a remote is not heard. A talker needs two reports, 1.5 s apart or more, to conclude that it
    /// is not heard, and has them within 2.9 s.
    private static let silentInterval = Duration.milliseconds(700)
    /// The time without a datagram after which a remote is not heard: the longest regular interval of reports is 6.16 s.
    private static let silenceTimeout = Duration.seconds(7)
    /// The time for which reports follow the last packet of a source, so that it learns that nothing arrives.
    private static let followUp = Duration.seconds(5)
    /// The time for which they follow where a source says that it transmits.
    private static let missingFollowUp = Duration.seconds(60)

    init(at now: Instant) { begin = now }

    /// The time after which nobody is heard, if the last datagram came at `last`, or none has come: a partner that does not
    /// reach us, or receives nothing of ours and waits for us.
    func silenceBegin(after last: Instant?) -> Instant { last.map { $0 + Self.silenceTimeout } ?? begin }

    /// Whether any report was sent.
    var hasReported: Bool { last != nil }

    /// Sends a brief report as soon as the minimum interval permits.
    mutating func expedite() { hasNews = true }

    mutating func reportSent(at now: Instant) {
        last = now
        hasNews = false
    }

    /// The time of the next brief report; nil if none is due. Before the first report, it is that of a whole one for a
    /// remote that is not heard.
    func deadline(_ situation: Situation) -> Instant? {
        let forSilent = nextForSilent(situation, after: last ?? begin)
        guard let last, situation.hasReaders else { return forSilent }
        let news = hasNews ? last + ReportSchedule.earlyInterval : nil
        return earlier(
            earlier(earlier(news, nextForSources(situation, after: last)), nextForListeners(situation, after: last)),
            forSilent)
    }

    /// The time within which another report follows the one that is sent at `now`; nil if none is certain.
    func promise(_ situation: Situation, at now: Instant) -> Duration? {
        situation.hasReaders ? nextForSources(situation, after: now).map { $0 - now } : nil
    }

    private func nextForSources(_ situation: Situation, after last: Instant) -> Instant? {
        let interval =
            situation.memberCount <= Self.fewMembers ? Self.interval : max(Self.interval, situation.fairInterval)
        let next = last + interval
        let isArriving = situation.lastArrival.map { next < $0 + Self.followUp } ?? false
        let isMissing = situation.missingSince.map { next < $0 + Self.missingFollowUp } ?? false
        return isArriving || isMissing ? next : nil
    }

    private func nextForSilent(_ situation: Situation, after last: Instant) -> Instant? {
        guard situation.memberCount <= Self.fewMembers else { return nil }
        return situation.silenceBegin.map { max(last + Self.silentInterval, $0) }
    }

    /// The end of a transmission is reported twice, or four times where reports may be lost.
    private func nextForListeners(_ situation: Situation, after last: Instant) -> Instant? {
        guard let end = situation.lastSent.map({ $0 + SentTimes.pause }) else { return nil }
        let moments = (0..<(situation.isLossy ? 4 : 2)).lazy.map { end + ReportSchedule.earlyInterval * $0 }
        return moments.first { $0 > last }
    }
}
