internal import TenfourAudioCore
internal import TenfourPackets

/// Finds out from the reports of our partners whether they hear us (Protocol/02-rtcp.md, "Who hears the endpoint").
///
/// A partner is a receiver at the address of a configured remote. A report covers the packets that we had sent a round
/// trip and 300 ms before it arrived. If the report shows none of them for a second, the partner hears nothing.
struct HearingMonitor: Sendable {
    /// When we sent our packets.
    private(set) var sent = SentTimes()
    /// The time at which a state may change without a report; nil while we do not transmit.
    private(set) var deadline: Instant?
    private var partners: [Partner] = []
    /// Whether we have sent BYE.
    private var hasLeft = false
    /// The number of our packets that the reports of a partner covered which has left, counted like `SentTimes.count`.
    private var coveredByDeparted: Int?
    /// The partners that sent BYE last, the latest at the end.
    private var departed: [(ssrc: SSRC, at: Instant)] = []

    /// A report of a partner, as far as it is about us.
    struct Report {
        /// The number of our packets that we sent after the highest one that has arrived; nil if the report does not say so.
        private(set) var sentAfterHighest: Int?
        /// The proportion of packets lost since the report before, 0…1.
        var lossShare = 0.0
        var roundTrip: Duration?
        var status: StationStatus?
        /// The proportion of our audio that the partner did not play, 0…1; nil if it does not say so.
        var missingShare: Double?
        /// Whether it comes from a configured endpoint, and not only from its address.
        var isFromConfigured = false

        /// Sets the highest number that has arrived. `next` is that of our next packet.
        mutating func setHighest(_ highest: SequenceNumber, next: SequenceNumber) {
            let behind = next.distance(after: highest) - 1
            if behind >= 0 { sentAfterHighest = behind }
        }
    }

    private struct Partner: Sendable {
        let ssrc: SSRC
        let endpoint: Endpoint
        var state: HearingState?
        var since: Instant?
        /// The state that was returned last.
        var told: HearingState?
        let firstReport: Instant
        var isStated = false
        var isConfigured = false
        /// The time of the last datagram of any kind.
        var lastHeard: Instant
        var lastReport: Instant
        /// The number of the newest of our packets that has arrived, counted like `SentTimes.count`.
        var reached = 0
        var reportInterval: Duration?
        var nextReport: Duration?
        var roundTrip: Duration?
        var output = StationStatus.Output.playing
        var missingShare = 0.0
        var hasReported = false
        /// The time of the last report that told of lost packets; nil before it.
        var lastLoss: Instant?
        /// Whether it has answered our BYE.
        var hasAnsweredGoodbye = false
        /// Whether the last report has not been evaluated.
        var hasNews = false

        var isLossy: Bool { lastLoss.map { lastReport - $0 < HearingMonitor.lossMemory } ?? false }

        func hearing(at now: Instant) -> Hearing? {
            state.map { Hearing(ssrc: ssrc, endpoint: endpoint, state: $0, duration: since.map { now - $0 }) }
        }
    }

    /// The maximum number of partners. Further ones are ignored.
    private static let maximumCount = 32
    private static let maximumDepartedCount = 8
    /// The time after a BYE for which reports of its sender are ignored.
    private static let goodbyeGrace = Duration.seconds(5)
    /// The time beyond the round trip after which a packet counts as not arrived. Jitter delays packets and reports.
    private static let grace = Duration.milliseconds(300)
    /// The round trip that is assumed while it is unknown.
    private static let usualRoundTrip = Duration.milliseconds(200)
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
    /// The time until a remote that never sends reports counts as one of which nothing can be known.
    private static let firstReportTimeout = Duration.seconds(5)
    /// The missing shares from which a partner hears badly, below which it hears well again, and from which it plays
    /// nothing.
    private static let (badShare, goodShare, nothingShare) = (0.1, 0.05, 0.9)

    // MARK: Input

    /// Records one of our packets. Returns whether it begins a transmission.
    mutating func packetSent(at now: Instant) -> Bool {
        let isFirst = sent.packetSent(at: now)
        if isFirst { for index in partners.indices { partners[index].state = nil } }
        deadline = earlier(deadline, now + (isFirst ? .zero : SentTimes.pause))
        return isFirst
    }

    /// Records a datagram of any kind from a participant, which may be a partner.
    mutating func datagramArrived(from ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        guard let index = index(of: ssrc, at: sender) else { return }
        partners[index].lastHeard = now
        if partners[index].state == .noAnswer { deadline = now }
    }

    /// Records a report of a receiver at the address of a remote.
    mutating func reportArrived(_ report: Report, from ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        guard let index = index(of: ssrc, at: sender) ?? insert(ssrc, at: sender, now) else { return }
        if partners[index].hasReported { partners[index].reportInterval = now - partners[index].lastReport }
        (partners[index].hasReported, partners[index].hasNews) = (true, true)
        (partners[index].lastReport, partners[index].lastHeard) = (now, now)
        partners[index].roundTrip = report.roundTrip ?? partners[index].roundTrip
        partners[index].isConfigured = report.isFromConfigured
        if let status = report.status {
            partners[index].isStated = true
            (partners[index].nextReport, partners[index].output) = (status.nextReport, status.output)
        }
        if report.lossShare > 0 || report.missingShare ?? 0 > 0 { partners[index].lastLoss = now }
        if let behind = report.sentAfterHighest {
            partners[index].reached = max(partners[index].reached, sent.count - behind)
            partners[index].missingShare = report.missingShare ?? report.lossShare
        }
        if hasLeft, report.status?.answersGoodbye ?? false { partners[index].hasAnsweredGoodbye = true }
        deadline = now
    }

    /// We have sent BYE. The partners answer it with a last report.
    mutating func leave() { hasLeft = true }

    /// Removes a partner that has sent BYE. A report that arrives after it does not bring the partner back. After our own BYE
    /// it stays, because it may still answer that.
    mutating func goodbyeArrived(from ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        guard !hasLeft else { return }
        if let index = index(of: ssrc, at: sender) {
            if partners[index].reached > 0 { coveredByDeparted = partners[index].reached }
            partners.remove(at: index)
        }
        if departed.count == Self.maximumDepartedCount { departed.removeFirst() }
        departed.append((ssrc, now))
    }

    /// The partner's name now resolves to another address: those at other addresses are no partners any more.
    mutating func partnerMoved(to address: IPAddress) { partners.removeAll { $0.endpoint.address != address } }

    /// Our stream continues under another SSRC: the packets sent before are not awaited any more.
    mutating func ssrcChanged() {
        for index in partners.indices { partners[index].reached = sent.count }
    }

    // MARK: Output

    /// Determines the states again, if `deadline` has passed. Returns the partners whose states have changed.
    mutating func update(at now: Instant) -> [Hearing] {
        guard let due = deadline, due <= now else { return [] }
        var changed: [Hearing] = []
        removeReplaced(at: now)
        for index in partners.indices {
            let (state, since) = state(of: partners[index], at: now)
            (partners[index].state, partners[index].since, partners[index].hasNews) = (state, since, false)
            guard let hearing = partners[index].hearing(at: now), hearing.state != .notYetKnown,
                hearing.state.differs(from: partners[index].told)
            else { continue }
            partners[index].told = hearing.state
            changed.append(hearing)
        }
        deadline = nextDeadline(at: now)
        return changed
    }

    /// The partners and whether they hear us; empty while we do not transmit. A remote that has not reported is one of
    /// which nothing is known.
    func hearings(_ remotes: [Endpoint], at now: Instant) -> [Hearing] {
        guard sent.isTransmitting(at: now), let begin = sent.begin else { return [] }
        let known = partners.compactMap { $0.hearing(at: now) }
        let others = remotes.filter { remote in
            guard !remote.address.isMulticast, !remote.address.isUnspecified else { return false }
            // Several remotes at one address are told apart by their ports.
            let isAlone = remotes.count { $0.address == remote.address } == 1
            return !partners.contains { isAlone ? $0.endpoint.address == remote.address : $0.endpoint == remote }
        }
        let state = now - begin.at < Self.firstReportTimeout ? HearingState.notYetKnown : .cannotKnow
        return known + others.map { Hearing(ssrc: nil, endpoint: $0, state: state, duration: nil) }
    }

    /// The number of our packets that the reports cover, counted from the first: those after it may not have arrived. It is
    /// the least of all partners, or that of the last one if all have left; nil before any report on our stream.
    var coveredCount: Int? { partners.lazy.map(\.reached).filter { $0 > 0 }.min() ?? coveredByDeparted }

    /// Whether we have sent BYE, and a partner has not answered it.
    var awaitsLastReports: Bool {
        hasLeft && sent.count > 0
            && partners.contains { $0.isStated && $0.isConfigured && !$0.hasAnsweredGoodbye }
    }

    /// Whether each partner that reports on our stream has answered our BYE: what the reports do not cover has not arrived.
    var hasLastReports: Bool {
        let reporting = partners.filter { $0.reached > 0 || $0.isStated && $0.isConfigured }
        return !reporting.isEmpty && reporting.allSatisfy(\.hasAnsweredGoodbye)
    }

    private func nextDeadline(at now: Instant) -> Instant? {
        guard sent.isTransmitting(at: now) else { return nil }
        let begin = sent.begin?.at ?? now
        let timeouts = partners.map { max($0.lastHeard, begin) + Self.timeout(of: $0) }.filter { $0 > now }
        return timeouts.reduce(sent.last.map { $0 + SentTimes.pause }) { earlier($0, $1) }
    }

    private static func timeout(of partner: Partner) -> Duration {
        partner.nextReport.map { $0 + reportGrace + (partner.isLossy ? lossGrace : .zero) }
            ?? max(regularTimeout, (partner.reportInterval ?? .zero) * 2.5)
    }

    private func state(of partner: Partner, at now: Instant) -> (HearingState?, since: Instant?) {
        guard sent.isTransmitting(at: now), let begin = sent.begin else { return (nil, nil) }
        // A partner may be silent while we are. It answers when we begin.
        guard now - max(partner.lastHeard, begin.at) < Self.timeout(of: partner) else {
            return (.noAnswer, partner.lastHeard)
        }
        let before = partner.state.flatMap { $0 == .noAnswer ? nil : $0 } ?? .notYetKnown
        guard partner.hasNews else { return (before, partner.since) }
        // Programs that send and receive under different SSRCs report without blocks, and so do others at the same address.
        guard partner.reached > 0 || partner.isStated && partner.isConfigured else {
            return (now - begin.at < Self.firstReportTimeout ? .notYetKnown : .cannotKnow, nil)
        }
        let covered = partner.lastReport - (partner.roundTrip ?? Self.usualRoundTrip) - Self.grace
        guard partner.reached >= begin.number || covered >= begin.at else { return (before, partner.since) }
        let count = sent.count(until: covered)
        if partner.reached < count, let next = sent.time(of: partner.reached + 1) {
            let since = max(next, begin.at, partner.firstReport)
            let isSilent = covered - since >= Self.silence && count - partner.reached >= Self.silentCount
            return isSilent ? (.hearsNothing, since) : (before, partner.since)
        }
        switch partner.output {
        case .muted: return (.muted, nil)
        case .none: return (.noOutput, nil)
        case .playing: break
        }
        let missing = partner.missingShare
        if missing >= Self.nothingShare { return (.playsNothing, nil) }
        let isBad = if case .hearsBadly = before { missing >= Self.goodShare } else { missing >= Self.badShare }
        return (isBad ? .hearsBadly(missingShare: missing) : .hears, nil)
    }

    private func index(of ssrc: SSRC, at sender: Endpoint) -> Int? {
        partners.firstIndex { $0.ssrc == ssrc && $0.endpoint.address == sender.address }
    }

    /// Removes partners that answer no more where another one does, as after a restart.
    private mutating func removeReplaced(at now: Instant) {
        let silent = partners.filter { now - $0.lastHeard >= Self.timeout(of: $0) }
        guard !silent.isEmpty else { return }
        let living = partners.filter { partner in !silent.contains { $0.ssrc == partner.ssrc } }
        partners.removeAll { partner in
            silent.contains { $0.ssrc == partner.ssrc } && living.contains { $0.endpoint == partner.endpoint }
        }
    }

    /// Adds a partner, unless it has just sent BYE.
    private mutating func insert(_ ssrc: SSRC, at sender: Endpoint, _ now: Instant) -> Int? {
        departed.removeAll { now - $0.at >= Self.goodbyeGrace }
        guard partners.count < Self.maximumCount, !departed.contains(where: { $0.ssrc == ssrc }) else { return nil }
        partners.append(Partner(ssrc: ssrc, endpoint: sender, firstReport: now, lastHeard: now, lastReport: now))
        return partners.count - 1
    }
}
