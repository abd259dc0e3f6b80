internal import TenfourAudioCore
internal import TenfourPackets

/// A partner of `HearingMonitor`, with what its reports say about our stream. It derives the partner's state.
struct HearingPartner: Sendable {
    let identifier: Identifier
    var ssrc: SSRC?
    let endpoint: Endpoint
    var state: HearingState?
    var since: Instant?
    /// The state that was returned last.
    var told: HearingState?
    private var firstReport: Instant
    /// Whether a report of a reporter has stated a status.
    private var hasStatus = false
    /// Whether the last report of a reporter came from a configured endpoint.
    private var isAtRemote = false
    /// The time of the last datagram of any kind.
    var lastHeard: Instant
    var lastReport: Instant
    /// The number of the newest of our packets that has arrived, counted like `SentTimes.count`.
    var reached = 0
    var reportInterval: Duration?
    private var nextReport: Duration?
    var roundTrip: Duration?
    private var output = StationStatus.Output.playing
    var missingShare = 0.0
    var hasReported = false
    /// The time of the last report that told of lost packets; nil before it.
    var lastLoss: Instant?
    /// Whether it has answered our BYE.
    var hasAnsweredGoodbye = false
    /// Whether the last report has not been evaluated.
    var hasNews = false
    /// The times from the sending of our packets until the relay had a statement about them.
    private var loopTimes = RecentMinimum()
    /// The time of the last list that contained it.
    private var lastListed: Instant?

    enum Identifier: Hashable, Sendable {
        /// A participant that sends reports to us.
        case reporter(SSRC, IPAddress)
        /// A member of our channel, by the relay's number.
        case member(UInt32)
    }

    /// The time beyond the round trip after which a packet counts as not arrived. Jitter delays packets and reports.
    private static let grace = Duration.milliseconds(300)
    /// The round trip that is assumed while it is unknown; through a relay it has four parts.
    private static let usualRoundTrip = Duration.milliseconds(200)
    private static let usualMemberRoundTrip = Duration.milliseconds(500)
    /// The maximum of the round trip through a relay. A longer one was measured in a pause.
    private static let longestMemberRoundTrip = Duration.seconds(2)
    /// The time without packets after which a partner hears nothing.
    private static let silence = Duration.seconds(1)
    /// The number of packets in a row that must not have arrived: the last ones before a pause may be lost.
    private static let silentCount = 8
    /// The time after a report was due until a partner counts as not answering.
    private static let reportGrace = Duration.milliseconds(1_500)
    /// The time that is added for `lossMemory` after packets were lost, because reports may be lost, too.
    private static let lossGrace = Duration.seconds(1)
    private static let lossMemory = Duration.seconds(5)
    /// The time without a report after which a partner that promises no next report counts as not answering: 2.5 times the
    /// longest regular interval, 6.16 s (RFC 3550 section 6.2).
    private static let regularTimeout = Duration.milliseconds(15_500)
    /// The age at which the statement of a member is too old, and what is added on a path that has lost statements or lists.
    private static let memberTimeout = Duration.milliseconds(3_500)
    private static let memberLossGrace = Duration.milliseconds(1_500)
    private static let memberLossMemory = Duration.seconds(60)
    /// The time between two statements, or two lists, from which one between them was lost.
    private static let lossyGap = Duration.milliseconds(1_400)
    /// The difference of two statements' times below which they are the same one, which the relay has repeated.
    private static let sameStatement = Duration.milliseconds(300)
    /// The time until a remote that never sends reports counts as one of which nothing can be known.
    static let firstReportTimeout = Duration.seconds(5)
    /// The missing shares from which a partner hears badly, below which it hears well again, and from which it plays
    /// nothing.
    private static let (badShare, goodShare, nothingShare) = (0.1, 0.05, 0.9)
    /// The time of a transmission that a report must cover before a share of missing audio means anything.
    private static let shareBasis = Duration.seconds(1)

    init(_ identifier: Identifier, ssrc: SSRC?, endpoint: Endpoint, at now: Instant) {
        self.identifier = identifier
        self.ssrc = ssrc
        self.endpoint = endpoint
        (firstReport, lastHeard, lastReport) = (now, now, now)
    }

    var isMember: Bool { if case .member = identifier { true } else { false } }

    /// Whether it states its output: what the relay knows of a member always does.
    private var isStated: Bool { isMember || hasStatus }

    /// Whether our packets go where it receives: the relay sends them to each member.
    var isConfigured: Bool { isMember || isAtRemote }

    /// Reads where a report has come from, and the status in it, if it has one.
    mutating func read(_ status: StationStatus?, isFromConfigured: Bool) {
        isAtRemote = isFromConfigured
        guard let status else { return }
        hasStatus = true
        (nextReport, output) = (status.nextReport, status.output)
    }

    /// Whether it answers our BYE with a last report.
    var answersGoodbye: Bool { isStated && isConfigured && !isMember }

    func hearing(at now: Instant) -> Hearing? {
        state.map {
            var hearing = Hearing(ssrc: ssrc, endpoint: endpoint, state: $0, duration: since.map { now - $0 })
            if case .member(let number) = identifier { hearing.member = number }
            return hearing
        }
    }

    /// Reads what the relay knows of a member. `next` is the number of our next packet.
    mutating func read(_ entry: HearingList.Entry, _ sent: SentTimes, next: SequenceNumber, at now: Instant) {
        let begin = sent.begin?.at ?? now
        if let lastListed, now - max(lastListed, begin) >= Self.lossyGap { lastLoss = now }
        lastListed = now
        guard let statement = entry.statement, ssrc == nil || entry.ssrc == nil || ssrc == entry.ssrc else {
            // The number is that of another member now, or the member was asked anew.
            if hasReported || ssrc != entry.ssrc {
                let told = ssrc == entry.ssrc ? told : nil
                self = HearingPartner(identifier, ssrc: entry.ssrc, endpoint: endpoint, at: now)
                self.told = told
            }
            hasNews = true
            return
        }
        ssrc = entry.ssrc ?? ssrc
        let time = now - statement.age
        guard !hasReported || time - lastReport >= Self.sameStatement && statement.age < HearingList.maximumAge else {
            return
        }
        if hasReported, time - max(lastReport, begin) >= Self.lossyGap { lastLoss = now }
        if !hasReported { firstReport = time }
        (hasReported, hasNews) = (true, true)
        (lastReport, lastHeard, output) = (time, time, statement.output)
        guard let playout = statement.playout else { return }
        missingShare = playout.missingShare
        let behind = next.distance(after: playout.highestSequenceNumber) - 1
        guard behind >= 0, sent.count - behind > reached else { return }
        reached = sent.count - behind
        if let start = sent.time(of: reached) { loopTimes.insert(time.nanoseconds - start.nanoseconds, at: now) }
        roundTrip = loopTimes.least.map {
            min(max(.nanoseconds($0), .zero), Self.longestMemberRoundTrip)
        }
    }

    /// The time without a datagram after which it counts as not answering.
    var timeout: Duration {
        let isLossy = lastLoss.map { lastReport - $0 < (isMember ? Self.memberLossMemory : Self.lossMemory) } ?? false
        if isMember { return Self.memberTimeout + (isLossy ? Self.memberLossGrace : .zero) }
        return nextReport.map { $0 + Self.reportGrace + (isLossy ? Self.lossGrace : .zero) }
            ?? max(Self.regularTimeout, (reportInterval ?? .zero) * 2.5)
    }

    /// Returns whether it hears us, and since when it hears nothing or does not answer. `sent` are our packets; `isAlone` is
    /// whether no other partner reports from the same machine.
    func state(_ sent: SentTimes, isAlone: Bool, at now: Instant) -> (HearingState?, since: Instant?) {
        guard sent.isTransmitting(at: now), let begin = sent.begin else { return (nil, nil) }
        // The relay lists a member without a statement when the member has had the time to answer.
        if isMember, !hasReported { return (.cannotKnow, nil) }
        // A partner may be silent while we are. It answers when we begin.
        guard now - max(lastHeard, begin.at) < timeout else { return (.noAnswer, lastHeard) }
        let isOver = state == .noAnswer || state == .refused || state == .cannotKnow && isMember
        let before = isOver ? .notYetKnown : state ?? .notYetKnown
        guard hasNews else { return (before, since) }
        // Programs that send and receive under different SSRCs report without blocks, and so do others at the same address.
        guard reached > 0 || isStated && (isConfigured || output != .none && isAlone) else {
            return (now - begin.at < Self.firstReportTimeout ? .notYetKnown : .cannotKnow, nil)
        }
        let usual = isMember ? Self.usualMemberRoundTrip : Self.usualRoundTrip
        let covered = lastReport - (roundTrip ?? usual) - Self.grace
        guard reached >= begin.number || covered >= begin.at else { return (before, since) }
        let count = sent.count(until: covered)
        if reached < count, let next = sent.time(of: reached + 1) {
            let since = max(next, begin.at, firstReport)
            let isSilent = covered - since >= Self.silence && count - reached >= Self.silentCount
            return isSilent ? (.hearsNothing, since) : (before, self.since)
        }
        switch output {
        case .muted: return (.muted, nil)
        case .none: return (.noOutput, nil)
        case .playing: break
        }
        if missingShare >= Self.nothingShare { return (.playsNothing, nil) }
        let isBad =
            if case .hearsBadly = before {
                missingShare >= Self.goodShare
            } else {
                missingShare >= Self.badShare && covered - begin.at >= Self.shareBasis
            }
        return (isBad ? .hearsBadly(missingShare: missingShare) : .hears, nil)
    }
}
