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

    /// A report of a partner, as far as it is about us.
    struct Report {
        /// The number of our packets that we sent after the highest one that has arrived; nil without a report block.
        var sentAfterHighest: Int?
        /// The proportion of packets lost since the report before, 0…1.
        var lossShare = 0.0
        var roundTrip: Duration?
        var status: StationStatus?
        /// The proportion of our audio that the partner did not play, 0…1; nil if it does not say so.
        var missingShare: Double?
    }

    private struct Partner: Sendable {
        let ssrc: SSRC
        let endpoint: Endpoint
        var state: HearingState?
        var since: Instant?
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
        /// Whether the last report has not been evaluated.
        var hasNews = false

        func hearing(at now: Instant) -> Hearing? {
            state.map { Hearing(ssrc: ssrc, endpoint: endpoint, state: $0, duration: since.map { now - $0 }) }
        }
    }

    /// The maximum number of partners. Further ones are ignored.
    private static let maximumCount = 32
    /// The time beyond the round trip after which a packet counts as not arrived. Jitter delays packets and reports.
    private static let grace = Duration.milliseconds(300)
    /// The round trip that is assumed while it is unknown.
    private static let usualRoundTrip = Duration.milliseconds(200)
    /// The time without packets after which a partner hears nothing.
    private static let silence = Duration.seconds(1)
    /// The time after a report was due until a partner counts as not answering.
    private static let reportGrace = Duration.milliseconds(1_500)
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
        partners[index].nextReport = report.status?.nextReport
        partners[index].output = report.status?.output ?? .playing
        if let behind = report.sentAfterHighest {
            partners[index].reached = max(partners[index].reached, sent.count - behind)
            partners[index].missingShare = report.missingShare ?? report.lossShare
        }
        deadline = now
    }

    /// Removes a partner that has sent BYE.
    mutating func remove(_ ssrc: SSRC, at sender: Endpoint) {
        partners.removeAll { $0.ssrc == ssrc && $0.endpoint.address == sender.address }
    }

    /// Our stream continues under another SSRC: no packet of it has arrived yet.
    mutating func ssrcChanged() {
        for index in partners.indices { partners[index].reached = 0 }
    }

    // MARK: Output

    /// Determines the states again, if `deadline` has passed. Returns the partners whose states have changed.
    mutating func update(at now: Instant) -> [Hearing] {
        guard let due = deadline, due <= now else { return [] }
        var changed: [Hearing] = []
        for index in partners.indices {
            let (state, since) = state(of: partners[index], at: now)
            let before = partners[index].state
            (partners[index].state, partners[index].since, partners[index].hasNews) = (state, since, false)
            if let hearing = partners[index].hearing(at: now), hearing.state.differs(from: before) {
                changed.append(hearing)
            }
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
            !remote.address.isMulticast && !remote.address.isUnspecified
                && !partners.contains { $0.endpoint.address == remote.address }
        }
        let state = now - begin.at < Self.firstReportTimeout ? HearingState.notYetKnown : .cannotKnow
        return known + others.map { Hearing(ssrc: nil, endpoint: $0, state: state, duration: nil) }
    }

    /// The number of our packets that the reports cover, counted from the first: those after it may not have arrived. It is
    /// the least of all partners; nil before any report on our stream.
    var coveredCount: Int? { partners.lazy.map(\.reached).filter { $0 > 0 }.min() }

    private func nextDeadline(at now: Instant) -> Instant? {
        guard sent.isTransmitting(at: now) else { return nil }
        let timeouts = partners.map { $0.lastHeard + Self.timeout(of: $0) }.filter { $0 > now }
        return timeouts.reduce(sent.last.map { $0 + SentTimes.pause }) { earlier($0, $1) }
    }

    private static func timeout(of partner: Partner) -> Duration {
        partner.nextReport.map { $0 + reportGrace }
            ?? max(regularTimeout, (partner.reportInterval ?? .zero) * 2.5)
    }

    private func state(of partner: Partner, at now: Instant) -> (HearingState?, since: Instant?) {
        guard sent.isTransmitting(at: now), let begin = sent.begin else { return (nil, nil) }
        guard now - partner.lastHeard < Self.timeout(of: partner) else { return (.noAnswer, partner.lastHeard) }
        let before = partner.state.flatMap { $0 == .noAnswer ? nil : $0 } ?? .notYetKnown
        guard partner.hasNews else { return (before, partner.since) }
        let covered = partner.lastReport - (partner.roundTrip ?? Self.usualRoundTrip) - Self.grace
        guard partner.reached >= begin.number || covered >= begin.at else { return (before, partner.since) }
        if partner.reached < sent.count(until: covered), let next = sent.time(of: partner.reached + 1) {
            let since = max(next, begin.at)
            return covered - since >= Self.silence ? (.hearsNothing, since) : (before, partner.since)
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

    /// Adds a partner. It takes the place of one at the same address that answers no more, as after a restart.
    private mutating func insert(_ ssrc: SSRC, at sender: Endpoint, _ now: Instant) -> Int? {
        partners.removeAll { $0.endpoint.address == sender.address && now - $0.lastHeard >= Self.timeout(of: $0) }
        guard partners.count < Self.maximumCount else { return nil }
        partners.append(Partner(ssrc: ssrc, endpoint: sender, lastHeard: now, lastReport: now))
        return partners.count - 1
    }
}
