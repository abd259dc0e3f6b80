internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// Who is asked in a channel how it receives the talkers, and what was answered (Protocol/06-control.md, "Who hears the
/// talker"). It is empty while nobody transmits.
struct ChannelHearing: Sendable {
    /// The members that are asked, at most `maximumListenerCount`, and as many more for a moment after a new sample.
    private var listeners: [Listener] = []
    private var talkers: [Talker] = []
    /// The time of the next request.
    private var requestDue = Instant.start
    /// The time of the next sample; nil if all members are asked.
    private(set) var sampleDue: Instant?
    /// The number of members that know the records about who hears whom.
    private(set) var ableCount = 0
    /// The number of requests that still follow quickly, because a talker has stopped.
    private var quickCount = 0

    private struct Listener: Sendable {
        let member: MemberID
        let askedAt: Instant
        /// The time until which the member is in the list; nil if it is in the present sample.
        var leavesAt: Instant?
        var report: HearingReport?
        var reportedAt = Instant.start
    }

    /// A talker that transmits.
    private struct Talker: Sendable {
        let member: MemberID
        let ssrc: SSRC
        /// The time of the last list that the talker was sent; nil before the first.
        var lastList: Instant?
        /// Whether a member has stated something that the talker should know at once.
        var hasNews = false
    }

    /// The maximum number of members that are asked: a list has as many entries without the talker itself.
    static let maximumListenerCount = HearingList.maximumEntryCount + 1
    /// The time between two samples of a channel with more members.
    static let sampleInterval = Duration.seconds(10)
    /// The time within which a member that knows the request has answered it.
    private static let answerTimeout = Duration.seconds(2)
    private static let requestInterval = Duration.seconds(1)
    /// The requests that state the end of a transmission: one that none of them reaches takes the talker's audio for missing.
    private static let quickInterval = Duration.milliseconds(250)
    private static let quickRequestCount = 8
    private static let listInterval = Duration.seconds(1)
    /// The minimum time between two lists, and the number of entries above which it is `listInterval`.
    private static let earlyInterval = Duration.milliseconds(450)
    private static let fewEntries = 8

    /// The number of members in the present sample.
    var askedCount: Int { listeners.count { $0.leavesAt == nil } }
    /// Whether nobody transmits, and no member has to know that any more.
    var isIdle: Bool { talkers.isEmpty && quickCount == 0 }

    // MARK: Members

    /// Sets the talkers that transmit.
    mutating func setTalkers(_ present: [(member: MemberID, ssrc: SSRC)], at now: Instant) {
        let present = present.prefix(HearingRequest.maximumTalkerCount)
        guard !present.elementsEqual(talkers, by: { $0.member == $1.member && $0.ssrc == $1.ssrc }) else { return }
        let former = talkers
        talkers = present.map { one in
            former.first { $0.member == one.member && $0.ssrc == one.ssrc }
                ?? Talker(member: one.member, ssrc: one.ssrc)
        }
        requestDue = now
        if former.contains(where: { one in !talkers.contains { $0.ssrc == one.ssrc } }) {
            quickCount = Self.quickRequestCount
        }
    }

    /// Asks these members from now on. Those that were asked before stay in the lists until the new ones have answered. If
    /// `isSample`, another sample follows.
    mutating func ask(_ members: [MemberID], isSample: Bool, at now: Instant) {
        for index in listeners.indices where !members.contains(listeners[index].member) {
            listeners[index].leavesAt = listeners[index].leavesAt ?? now + Self.answerTimeout
        }
        let leaving = listeners.filter { $0.leavesAt != nil }.dropLast(Self.maximumListenerCount).map(\.member)
        listeners.removeAll { leaving.contains($0.member) }
        for member in members {
            if let index = listeners.firstIndex(where: { $0.member == member }) {
                listeners[index].leavesAt = nil
            } else {
                listeners.append(Listener(member: member, askedAt: now))
                requestDue = now
            }
        }
        sampleDue = isSample ? now + Self.sampleInterval : nil
    }

    /// Records that a member has sent HEARING for the first time.
    mutating func memberIsAble() { ableCount += 1 }

    /// Removes a member that has left. `wasAble` is whether it has ever sent HEARING.
    mutating func remove(_ member: MemberID, wasAble: Bool) {
        if wasAble { ableCount -= 1 }
        listeners.removeAll { $0.member == member }
    }

    /// Stores what a member states about the talkers that transmit. Ignores a member that was not asked.
    mutating func reportArrived(_ report: HearingReport, from member: MemberID, at now: Instant) {
        guard let index = listeners.firstIndex(where: { $0.member == member }) else { return }
        var report = report
        report.playouts.removeAll { playout in
            !talkers.contains { $0.ssrc == playout.source && $0.member != member }
        }
        let isFirst = listeners[index].report == nil
        (listeners[index].report, listeners[index].reportedAt) = (report, now)
        guard report.isUrgent || isFirst else { return }
        for talker in talkers.indices where talkers[talker].member != member { talkers[talker].hasNews = true }
    }

    // MARK: Records

    /// Returns the request that is due, and the members that it goes to; nil if none is.
    mutating func nextRequest(at now: Instant) -> (HearingRequest, [MemberID])? {
        guard !isIdle, requestDue <= now else { return nil }
        // A member that is the only talker has nothing to state, but learns that another one has stopped.
        let members = listeners.map(\.member).filter { member in
            quickCount > 0 || talkers.contains { $0.member != member }
        }
        quickCount = max(quickCount - 1, 0)
        requestDue = now + (quickCount > 0 ? Self.quickInterval : Self.requestInterval)
        if isIdle { (listeners, sampleDue) = ([], nil) }
        return (HearingRequest(talkers: talkers.map(\.ssrc)), members)
    }

    /// Returns the next list that is due, with the talker that it goes to; nil if none is. `memberCount` is the number of all
    /// members of the channel.
    mutating func nextList(of memberCount: Int, at now: Instant) -> (HearingList, to: MemberID)? {
        listeners.removeAll { $0.leavesAt.map { $0 <= now } ?? false }
        for index in talkers.indices {
            let talker = talkers[index]
            let listed = listeners.filter { isListed($0, for: talker, at: now) }.prefix(HearingList.maximumEntryCount)
            guard !listed.isEmpty, listDue(of: talker, entryCount: listed.count) ?? now <= now else { continue }
            (talkers[index].lastList, talkers[index].hasNews) = (now, false)
            let list = HearingList(
                talker: talker.ssrc, memberCount: max(memberCount - 1, listed.count),
                entries: listed.map { Self.entry(of: $0, about: talker.ssrc, at: now) })
            return (list, talker.member)
        }
        return nil
    }

    /// Whether a member is in the list of a talker: in a new sample when it has answered, or has had the time to.
    private func isListed(_ listener: Listener, for talker: Talker, at now: Instant) -> Bool {
        guard listener.member != talker.member else { return false }
        return listener.report != nil || now - listener.askedAt >= Self.answerTimeout
    }

    private func listDue(of talker: Talker, entryCount: Int) -> Instant? {
        let isEarly = talker.hasNews && entryCount <= Self.fewEntries
        return talker.lastList.map { $0 + (isEarly ? Self.earlyInterval : Self.listInterval) }
    }

    private static func entry(of listener: Listener, about ssrc: SSRC, at now: Instant) -> HearingList.Entry {
        let statement = listener.report.map { report in
            HearingList.Statement(
                age: now - listener.reportedAt, output: report.output,
                playout: report.playouts.first { $0.source == ssrc })
        }
        return HearingList.Entry(member: listener.member.rosterNumber, statement: statement)
    }

    /// The time at which a request, a list or a sample is due, as far as no statement arrives before; nil if nothing is.
    func deadline(at now: Instant) -> Instant? {
        guard !isIdle else { return nil }
        var next = requestDue
        if let sampleDue, !talkers.isEmpty { next = min(next, sampleDue) }
        for talker in talkers {
            let count = listeners.count { isListed($0, for: talker, at: now) }
            if count > 0 {
                next = min(next, listDue(of: talker, entryCount: count) ?? now)
            } else if let asked = listeners.lazy.filter({ $0.member != talker.member }).map(\.askedAt).min() {
                next = min(next, asked + Self.answerTimeout)
            }
        }
        return max(next, now)
    }
}
