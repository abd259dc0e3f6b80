internal import TenfourAudioCore
internal import TenfourPackets

/// Finds out from the reports of our partners whether they hear us (Protocol/02-rtcp.md, "Who hears the endpoint").
///
/// A partner is a receiver at the address of a configured remote, or a member of our channel that the relay has asked
/// (Protocol/06-control.md, "Who hears the talker"). A report covers the packets that we had sent a round
/// trip and 300 ms before it arrived. If the report shows none of them for a second, the partner hears nothing.
struct HearingMonitor: Sendable {
    /// When we sent our packets.
    private(set) var sent = SentTimes()
    /// The time at which a state may change without a report; nil while we do not transmit.
    private(set) var deadline: Instant?
    private var partners: [HearingPartner] = []
    private var refused = RefusedEndpoints()
    /// Whether we have sent BYE.
    private var hasLeft = false
    /// The number of our packets that the reports of a partner covered which has left, counted like `SentTimes.count`.
    private var coveredByDeparted: Int?
    /// The partners that sent BYE last, the latest at the end.
    private var departed: [(ssrc: SSRC, at: Instant)] = []
    /// The time of the relay's last list of members that it has asked; nil if there is none.
    private var lastList: Instant?
    /// The number of all members of our channel but us, of which the relay may have asked only some; nil outside a channel,
    /// and while the relay asks nobody.
    private(set) var memberCount: Int?

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

    /// The maximum number of partners. Further ones are ignored.
    private static let maximumCount = 32
    private static let maximumDepartedCount = 8
    /// The time for which a partner that reports must be refused: it reports once a second.
    private static let refusalGrace = Duration.milliseconds(1_500)
    /// The time after a BYE for which reports of its sender are ignored.
    private static let goodbyeGrace = Duration.seconds(5)
    /// The time without a list of a relay after which its members are no partners any more.
    private static let listTimeout = Duration.seconds(10)

    // MARK: Input

    /// Records one of our packets. Returns whether it begins a transmission.
    mutating func packetSent(at now: Instant) -> Bool {
        let isFirst = sent.packetSent(at: now)
        if isFirst { for index in partners.indices { partners[index].state = nil } }
        deadline = earlier(deadline, now + (isFirst ? .zero : SentTimes.pause))
        return isFirst
    }

    /// Records that the machine of a configured endpoint has refused one of our datagrams (ICMP).
    mutating func datagramRefused(by endpoint: Endpoint, at now: Instant) {
        refused.refused(by: endpoint, at: now)
        deadline = now
    }

    /// Records a datagram of any kind from a participant, which may be a partner.
    mutating func datagramArrived(from ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        refused.datagramArrived(from: sender)
        guard let index = index(of: ssrc, at: sender) else { return }
        partners[index].lastHeard = now
        if partners[index].state == .noAnswer { deadline = now }
    }

    /// Records a report of a receiver at the address of a remote.
    mutating func reportArrived(_ report: Report, from ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        refused.datagramArrived(from: sender)
        guard let index = index(of: ssrc, at: sender) ?? insert(ssrc, at: sender, now) else { return }
        if partners[index].hasReported { partners[index].reportInterval = now - partners[index].lastReport }
        (partners[index].hasReported, partners[index].hasNews) = (true, true)
        (partners[index].lastReport, partners[index].lastHeard) = (now, now)
        partners[index].roundTrip = report.roundTrip ?? partners[index].roundTrip
        partners[index].read(report.status, isFromConfigured: report.isFromConfigured)
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

    /// Reads what members of our channel have told the relay. `next` is the number of our next packet. Members that the list
    /// does not contain are no partners any more.
    mutating func listArrived(_ list: HearingList, next: SequenceNumber, at relay: Endpoint, _ now: Instant) {
        let identifiers = Set(list.entries.map { HearingPartner.Identifier.member($0.member) })
        partners.removeAll { $0.isMember && !identifiers.contains($0.identifier) }
        for entry in list.entries {
            let identifier = HearingPartner.Identifier.member(entry.member)
            if let index = partners.firstIndex(where: { $0.identifier == identifier }) {
                partners[index].read(entry, sent, next: next, at: now)
            } else if partners.count < Self.maximumCount {
                var partner = HearingPartner(identifier, ssrc: entry.ssrc, endpoint: relay, at: now)
                partner.read(entry, sent, next: next, at: now)
                partners.append(partner)
            }
        }
        (lastList, memberCount, deadline) = (now, list.memberCount, now)
    }

    /// We have joined a channel anew: nothing is known of its members.
    mutating func removeMembers() {
        partners.removeAll(where: \.isMember)
        (lastList, memberCount) = (nil, nil)
    }

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
    mutating func partnerMoved(to address: IPAddress) {
        partners.removeAll { !$0.isMember && $0.endpoint.address != address }
    }

    /// Our stream continues under another SSRC: the packets sent before are not awaited any more.
    mutating func ssrcChanged() {
        for index in partners.indices { partners[index].reached = sent.count }
    }

    // MARK: Output

    /// Determines the states again, if `deadline` has passed. Returns the partners whose states have changed.
    mutating func update(at now: Instant) -> [Hearing] {
        guard let due = deadline, due <= now else { return [] }
        var changed: [Hearing] = []
        refused.removeOld(at: now)
        removeReplaced(at: now)
        if let lastList, now - max(lastList, sent.begin?.at ?? lastList) >= Self.listTimeout { removeMembers() }
        for index in partners.indices {
            let (state, since) = state(of: partners[index], at: now)
            (partners[index].state, partners[index].since, partners[index].hasNews) = (state, since, false)
            guard let hearing = hearing(of: partners[index], at: now), hearing.state != .notYetKnown,
                hearing.state.differs(from: partners[index].told)
            else { continue }
            partners[index].told = hearing.state
            changed.append(hearing)
        }
        if sent.isTransmitting(at: now) {
            changed += refused.takeNews(besides: partners.map(\.endpoint.address), at: now)
        }
        deadline = nextDeadline(at: now)
        return changed
    }

    private func hearing(of partner: HearingPartner, at now: Instant) -> Hearing? {
        guard var hearing = partner.hearing(at: now), hearing.state == .refused,
            let refusal = refused.refusal(of: partner.endpoint, isConfigured: partner.isConfigured)
        else { return partner.hearing(at: now) }
        hearing.endpoint = refusal.endpoint
        return hearing
    }

    /// The partners and whether they hear us; empty while we do not transmit. A remote that has not reported is one of
    /// which nothing is known.
    func hearings(_ remotes: [Endpoint], at now: Instant) -> [Hearing] {
        guard sent.isTransmitting(at: now), let begin = sent.begin else { return [] }
        let known = partners.compactMap { hearing(of: $0, at: now) }
        let others = remotes.filter { remote in
            guard !remote.address.isMulticast, !remote.address.isUnspecified else { return false }
            // Several remotes at one address are told apart by their ports.
            let isAlone = remotes.count { $0.address == remote.address } == 1
            return !partners.contains { isAlone ? $0.endpoint.address == remote.address : $0.endpoint == remote }
        }
        let state = now - begin.at < HearingPartner.firstReportTimeout ? HearingState.notYetKnown : .cannotKnow
        return known
            + others.map { remote in
                let refusal = refused.refusal(of: remote, isConfigured: true)
                return Hearing(
                    ssrc: nil, endpoint: remote, state: refusal == nil ? state : .refused,
                    duration: refusal.map { now - $0.since })
            }
    }

    /// The number of our packets that the reports cover, counted from the first: those after it may not have arrived. It is
    /// the least of all partners, or that of the last one if all have left; nil before any report on our stream, and in a
    /// channel.
    var coveredCount: Int? {
        partners.lazy.filter { !$0.isMember }.map(\.reached).filter { $0 > 0 }.min() ?? coveredByDeparted
    }

    /// Whether we have sent BYE, and a partner has not answered it.
    var awaitsLastReports: Bool {
        hasLeft && sent.count > 0
            && partners.contains { $0.answersGoodbye && !$0.hasAnsweredGoodbye }
    }

    /// Whether each partner that reports on our stream has answered our BYE: what the reports do not cover has not arrived.
    var hasLastReports: Bool {
        let reporting = partners.filter { !$0.isMember && $0.reached > 0 || $0.answersGoodbye }
        return !reporting.isEmpty && reporting.allSatisfy(\.hasAnsweredGoodbye)
    }

    private func nextDeadline(at now: Instant) -> Instant? {
        guard sent.isTransmitting(at: now) else { return nil }
        let begin = sent.begin?.at ?? now
        let timeouts = partners.map { max($0.lastHeard, begin) + $0.timeout }.filter { $0 > now }
        return timeouts.reduce(earlier(sent.last.map { $0 + SentTimes.pause }, refused.deadline)) { earlier($0, $1) }
    }

    private func state(of partner: HearingPartner, at now: Instant) -> (HearingState?, since: Instant?) {
        if sent.isTransmitting(at: now), let since = refusalBegin(of: partner, at: now) { return (.refused, since) }
        return partner.state(sent, isAlone: isAlone(partner), at: now)
    }

    /// The time since which the machine of a partner refuses our packets. Anybody can forge the errors that say so: what the
    /// partner has received since then, or may soon say that it has, counts for more.
    private func refusalBegin(of partner: HearingPartner, at now: Instant) -> Instant? {
        guard let refusal = refused.refusal(of: partner.endpoint, isConfigured: partner.isConfigured) else {
            return nil
        }
        guard partner.hasReported else { return refusal.since }
        let received = partner.reached > 0 ? sent.time(of: partner.reached) : nil
        let isContradicted = received.map { $0 > refusal.since } ?? false
        return isContradicted || now - refusal.since < Self.refusalGrace ? nil : refusal.since
    }

    /// Whether no other partner reports from the same machine.
    private func isAlone(_ partner: HearingPartner) -> Bool {
        !partners.contains { $0.ssrc != partner.ssrc && $0.endpoint.address == partner.endpoint.address }
    }

    private func index(of ssrc: SSRC, at sender: Endpoint) -> Int? {
        partners.firstIndex { $0.identifier == .reporter(ssrc, sender.address) }
    }

    /// Removes partners that answer no more where another one does, as after a restart.
    private mutating func removeReplaced(at now: Instant) {
        let reporters = partners.filter { !$0.isMember }
        let silent = reporters.filter { now - $0.lastHeard >= $0.timeout }
        guard !silent.isEmpty else { return }
        let living = reporters.filter { partner in !silent.contains { $0.ssrc == partner.ssrc } }
        partners.removeAll { partner in
            !partner.isMember && silent.contains { $0.ssrc == partner.ssrc }
                && living.contains { $0.endpoint == partner.endpoint }
        }
    }

    /// Adds a partner, unless it has just sent BYE.
    private mutating func insert(_ ssrc: SSRC, at sender: Endpoint, _ now: Instant) -> Int? {
        departed.removeAll { now - $0.at >= Self.goodbyeGrace }
        guard partners.count < Self.maximumCount, !departed.contains(where: { $0.ssrc == ssrc }) else { return nil }
        partners.append(HearingPartner(.reporter(ssrc, sender.address), ssrc: ssrc, endpoint: sender, at: now))
        return partners.count - 1
    }
}
