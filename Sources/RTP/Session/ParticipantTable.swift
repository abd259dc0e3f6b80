internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

/// Keeps the participants of a session: sources of media, reporters without media, and a count of listeners.
///
/// A source is added with its first packet. It is removed after its BYE, after a time-out, or when the table is full
/// and a new source arrives.
struct ParticipantTable: Sendable {
    /// The sources in the order of their first packets; at most `RTPSession.maximumSourceCount`.
    private(set) var sources: [Source] = []
    /// The time at which the next participant may time out; nil while there are no participants.
    private(set) var deadline: Instant?
    private var reporters = Reporters()
    private var named = NamedTalkers()
    private var listeners = Listeners()
    private var restarts = RestartDetector()
    /// Limits the rate of new reporters at addresses that are not configured remotes.
    private var strangers = TokenBucket(perSecond: 0.5, most: 8)
    /// The index of the source with which the next report begins, if a report has fewer blocks than there are sources.
    private var nextReported = 0

    /// The result of finding a packet's source: the index of the source, or the reason why the packet is discarded.
    enum SourceLookup {
        case source(Int)
        case refused(DiscardReason)
    }

    subscript(index: Int) -> Source {
        _read { yield sources[index] }
        _modify { yield &sources[index] }
    }

    var indices: Range<Int> { sources.indices }
    var listenerCount: Int { listeners.count }

    func index(of ssrc: SSRC) -> Int? { sources.firstIndex { $0.ssrc == ssrc } }

    /// Returns the index of the source if `sender` has its IP address. RTCP may come from another port than media.
    func index(of ssrc: SSRC, at sender: Endpoint) -> Int? {
        index(of: ssrc).flatMap { sources[$0].endpoint.address == sender.address ? $0 : nil }
    }

    /// Lists the participants at `now`: first the sources of media, then the participants that only report, each in
    /// order of arrival.
    func all(at now: Instant) -> [Participant] {
        sources.filter { $0.goodbye == nil }.map { $0.participant(at: now) } + reporters.all(at: now)
    }

    /// Counts the members of the session, who share the bit rate of reports.
    func membership(_ configuration: RTPSessionConfiguration, isSender: Bool) -> ReportSchedule.Membership {
        let othersCount = sources.lazy.filter { $0.goodbye == nil }.count
        return ReportSchedule.Membership(
            memberCount: 1 + max(othersCount + listeners.count, configuration.remotes.count),
            senderCount: othersCount + (isSender ? 1 : 0), isSender: isSender)
    }

    /// Takes `byteCount` bytes from the budget of each source that is not at one of `remotes`. Returns the addresses of
    /// those that had enough: such a source gets no more bytes than it sent.
    mutating func spend(_ byteCount: Int, besides remotes: [Endpoint]) -> [Endpoint] {
        var endpoints: [Endpoint] = []
        for index in sources.indices {
            let endpoint = sources[index].endpoint
            guard !remotes.contains(endpoint), !endpoints.contains(endpoint), sources[index].spend(byteCount) else {
                continue
            }
            endpoints.append(endpoint)
        }
        return endpoints
    }

    // MARK: - Arrivals

    /// Finds the source of a packet of audio, or adds it.
    mutating func source(
        of header: RTPHeader, _ encoding: AudioEncoding, from sender: Endpoint, _ schedule: ReportSchedule,
        _ events: inout EventQueue, at now: Instant
    ) -> SourceLookup {
        let ssrc = header.ssrc
        if let index = index(of: ssrc) {
            if sources[index].sends(header, encoding, from: sender, at: now) { return .source(index) }
            if let other = sources[index].collision.newCollision() {
                events.post(.sourcesCollide(ssrc, kept: sources[index].endpoint, other: other))
            }
            return .refused(.collision)
        }
        guard evictSource(&events, at: now) else { return .refused(.tooManySources) }
        listeners.remove(ssrc)
        // A station that was restarted transmits under its new SSRC alone. In a channel all come from the relay.
        for index in sources.indices where sources[index].endpoint == sender && !sender.address.isUnspecified {
            sources[index].transmission.end()
        }
        var source = Source(ssrc: ssrc, endpoint: sender, at: now)
        let stated = reporters.transmission(of: ssrc, at: sender.address) ?? named.remove(ssrc)
        if let stated { source.transmission = stated }
        let known = reporters.remove(ssrc, at: sender.address)
        if let known { (source.since, source.name) = (known.since, known.name) }
        sources.append(source)
        expect(expiry(of: source, schedule))
        events.post(.sourceAppeared(ssrc, from: sender))
        if let name = known?.name { events.post(.sourceNamed(ssrc, name)) }
        return .source(sources.count - 1)
    }

    /// Records a report. Its sender counts as a participant even if it sends no media. Listeners at addresses that are
    /// not configured remotes are counted only in a group, because outside a group we send nothing to such listeners.
    mutating func reportArrived(
        from ssrc: SSRC, at sender: Endpoint, _ configuration: RTPSessionConfiguration, _ schedule: ReportSchedule,
        _ now: Instant
    ) {
        guard index(of: ssrc) == nil else {
            if let index = index(of: ssrc, at: sender) { sources[index].reportArrived(at: now) }
            return
        }
        if configuration.isGroup || configuration.isRemote(sender) { listeners.heard(ssrc, at: now) }
        // Ignores a reporter without an address. Behind a relay none has one, and the relay's roster lists the members.
        guard !sender.address.isUnspecified else { return }
        // Limits the number of reporters at addresses that are not configured remotes, because a stranger can invent
        // any number of them.
        let isAdmitted =
            reporters.knows(ssrc) || configuration.isRemote(sender)
            || reporters.all.count { !configuration.isRemote($0.endpoint) } < Reporters.maximumStrangerCount
                && strangers.spend(1, at: now)
        guard isAdmitted else { return }
        reporters.heard(ssrc, at: sender, now)
        expect(now + memberTimeout(schedule))
    }

    /// Posts an event for each reporter that first appeared in the datagram just read.
    mutating func postNewReporters(to events: inout EventQueue) {
        for participant in reporters.removeNew() {
            events.post(.reporterAppeared(participant.ssrc, participant.name, from: participant.endpoint))
        }
    }

    /// Reads a source description. If it contains no name, the earlier name stays, because not every report contains a
    /// name (RFC 3550 section 6.3.9).
    ///
    /// Removes the predecessors of a station that was restarted, which have the same CNAME, once they have been silent
    /// for a second.
    mutating func describe(
        _ chunk: SourceDescription.Chunk, from sender: Endpoint, _ events: inout EventQueue, at now: Instant
    ) {
        if let name = chunk[.canonicalName]?.value, isPresent(chunk.ssrc, at: sender) {
            for ssrc in restarts.insert(chunk.ssrc, name, at: sender.address) { supersede(ssrc, &events, at: now) }
        }
        let given = chunk[.name]?.text
        if let name = given ?? chunk.personalCanonicalName, reporters.named(chunk.ssrc, name, at: sender) {
            events.post(.sourceNamed(chunk.ssrc, name))
        }
        guard let index = index(of: chunk.ssrc, at: sender),
            let name = given ?? sources[index].name ?? chunk.personalCanonicalName, name != sources[index].name
        else { return }
        sources[index].name = name
        events.post(.sourceNamed(chunk.ssrc, name))
    }

    private func isPresent(_ ssrc: SSRC, at sender: Endpoint) -> Bool {
        index(of: ssrc, at: sender) != nil || reporters.lastReport(of: ssrc, at: sender.address) != nil
    }

    /// Removes a participant that is superseded, now or after its silence.
    private mutating func supersede(_ ssrc: SSRC, _ events: inout EventQueue, at now: Instant) {
        let source = index(of: ssrc).map { sources[$0] }
        guard let lastHeard = source?.lastHeard ?? reporters.lastReport(of: ssrc) else { return }
        if lastHeard + RestartDetector.timeout > now {
            expect(lastHeard + RestartDetector.timeout)
        } else if let source {
            remove(source, &events)
        } else {
            removeSupersededReporters(&events, at: now)
        }
    }

    private mutating func removeSupersededReporters(_ events: inout EventQueue, at now: Instant) {
        for participant in reporters.all {
            guard let lastReport = reporters.lastReport(of: participant.ssrc),
                lastReport + RestartDetector.timeout <= now, restarts.isSuperseded(participant.ssrc)
            else { continue }
            _ = reporters.remove(participant.ssrc, at: participant.endpoint.address)
            restarts.remove(participant.ssrc)
            events.post(.reporterLeft(participant.ssrc, reason: Self.restartReason))
        }
    }

    /// The reason why a superseded participant has left.
    static let restartReason = "restarted"

    // MARK: - Transmissions

    /// Records whether a participant says in its report that it transmits. One that sends no media is believed only at the
    /// address of a configured remote.
    mutating func stated(
        _ status: StationStatus, by ssrc: SSRC, at sender: Endpoint, isRemote: Bool, _ now: Instant
    ) {
        if let index = index(of: ssrc, at: sender) {
            sources[index].stated(status, at: now)
        } else if isRemote {
            reporters.stated(status.isTransmitting, by: ssrc, at: sender, now)
        }
    }

    /// Records which of the others transmit through the relay of our channel.
    mutating func relayStated(_ talkers: [SSRC], _ events: inout EventQueue, at now: Instant) {
        for index in sources.indices { sources[index].relayStated(talkers.contains(sources[index].ssrc), at: now) }
        for event in named.named(talkers.filter { index(of: $0) == nil }, at: now) { events.post(event) }
    }

    /// The time at which the audio of a participant that says that it transmits will be missing.
    func missingDeadline(at now: Instant) -> Instant? {
        sources.reduce(earlier(reporters.missingDeadline, named.missingDeadline)) { deadline, source in
            guard source.goodbye == nil else { return deadline }
            return earlier(
                deadline,
                source.transmission.deadline(lastPacket: source.lastPacket, isLossy: source.trace.isLossy(at: now)))
        }
    }

    /// Posts an event for each participant whose audio has begun to be missing, or arrives again. Returns whether any has.
    mutating func updateMissing(_ events: inout EventQueue, at now: Instant) -> Bool {
        var changed = reporters.updateMissing(at: now) + named.updateMissing(at: now)
        for index in sources.indices where sources[index].goodbye == nil {
            guard sources[index].updateMissing(at: now) else { continue }
            changed.append(sources[index].transmission.event(of: sources[index].ssrc))
        }
        for event in changed { events.post(event) }
        return !changed.isEmpty
    }

    /// The time of the last packet of a source that states its status; nil without such sources.
    var lastArrival: Instant? { sources.lazy.filter(\.transmission.isStated).map(\.lastPacket).max() }

    /// The time since which the audio of a participant is missing; the latest of several.
    var missingSince: Instant? {
        let latest = sources.lazy.compactMap(\.transmission.outageBegin).max()
        return [latest, reporters.missingSince].lazy.compactMap(\.self).max()
    }

    /// Whether any participant states a status.
    var hasStated: Bool { reporters.hasStated || sources.indices.contains { sources[$0].transmission.isStated } }

    // MARK: - Departures

    /// Records a BYE. A source is removed 200 ms later, because the BYE may have overtaken its last packets.
    mutating func goodbyeArrived(
        from ssrc: SSRC, at sender: Endpoint, reason: String, _ schedule: ReportSchedule, _ events: inout EventQueue,
        _ now: Instant
    ) {
        listeners.remove(ssrc)
        let isNew = reporters.isNew(ssrc)
        let isReporter = reporters.remove(ssrc, at: sender.address) != nil
        let index = index(of: ssrc, at: sender)
        // Records the BYE only if it comes from the participant's address. A BYE from another address removes nobody.
        if isReporter || index != nil { reporters.recordGoodbye(ssrc, at: now) }
        if isReporter { restarts.remove(ssrc) }
        if isReporter, !isNew { events.post(.reporterLeft(ssrc, reason: reason)) }
        if let index, sources[index].goodbye == nil {
            sources[index].leave(reason: reason, at: now)
            expect(expiry(of: sources[index], schedule))
        }
    }

    /// Whether a source that has left is removed at `now`.
    func hasDeparted(at now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        return sources.contains { $0.hasExpired(at: now) }
    }

    /// Removes the sources and reporters that have left or timed out, if `deadline` has passed.
    mutating func removeExpired(_ schedule: ReportSchedule, _ events: inout EventQueue, at now: Instant) {
        guard let deadline, deadline <= now else { return }
        // Each participant that leaves shortens the timeout of the others.
        var count: Int
        repeat {
            count = sources.count
            for source in sources where expiry(of: source, schedule) <= now { remove(source, &events) }
        } while sources.count < count
        removeSupersededReporters(&events, at: now)
        let timeout = memberTimeout(schedule)
        for participant in reporters.removeSilent(since: now - timeout) {
            restarts.remove(participant.ssrc)
            events.post(.reporterLeft(participant.ssrc, reason: nil))
        }
        self.deadline = nil
        for source in sources { expect(expiry(of: source, schedule)) }
        if let silent = reporters.earliestReport { expect(silent + timeout) }
        for participant in reporters.all where restarts.isSuperseded(participant.ssrc) {
            if let lastReport = reporters.lastReport(of: participant.ssrc) {
                expect(lastReport + RestartDetector.timeout)
            }
        }
    }

    /// The time at which a source is removed, unless a packet or report arrives from it before.
    private func expiry(of source: Source, _ schedule: ReportSchedule) -> Instant {
        let expiry = source.expiry(memberTimeout: memberTimeout(schedule))
        return restarts.isSuperseded(source.ssrc) ? min(expiry, source.lastHeard + RestartDetector.timeout) : expiry
    }

    mutating func removeSilentListeners(_ schedule: ReportSchedule, at now: Instant) {
        listeners.removeSilent(since: now - memberTimeout(schedule))
    }

    /// The number of packets from which a source counts as one that sends. Anyone who can send packets can invent sources.
    private static let provenCount = 10
    /// The time without a packet after which a source that has sent fewer packets makes room for another one.
    private static let longestProvingPause = Duration.milliseconds(150)

    /// Makes room in a full table by removing the source that has been silent longest, of those that have sent a few packets
    /// only or, if all of them still send, of all. Returns false if all sources are still sending.
    private mutating func evictSource(_ events: inout EventQueue, at now: Instant) -> Bool {
        guard sources.count >= RTPSession.maximumSourceCount else { return true }
        let unproven = sources.filter {
            $0.reception.receivedCount < Self.provenCount && now - $0.lastPacket > Self.longestProvingPause
        }
        guard let silent = (unproven.isEmpty ? sources : unproven).min(by: { $0.lastPacket < $1.lastPacket }),
            !unproven.isEmpty || now - silent.lastPacket > Source.longestPause
        else { return false }
        remove(silent, &events)
        return true
    }

    private mutating func remove(_ source: Source, _ events: inout EventQueue) {
        guard let index = index(of: source.ssrc) else { return }
        sources.remove(at: index)
        let reason = source.goodbye?.reason ?? (restarts.isSuperseded(source.ssrc) ? Self.restartReason : nil)
        restarts.remove(source.ssrc)
        events.post(.sourceLeft(source.ssrc, reason: reason))
    }

    private mutating func expect(_ expiry: Instant) { deadline = deadline.map { min($0, expiry) } ?? expiry }

    private func memberTimeout(_ schedule: ReportSchedule) -> Duration {
        schedule.memberTimeout(listenerCount: listeners.count, sourceCount: sources.count)
    }

    // MARK: - Reports

    /// Makes a report block for each source that has sent since its last block, as many as fit. The next report
    /// continues with the source after the last one.
    mutating func nextReportBlocks(at now: Instant) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        let first = nextReported
        for step in sources.indices where blocks.count < ReportBlock.maximumCount {
            let index = (first + step) % sources.count
            let block =
                sources[index].goodbye == nil
                ? sources[index].reception.reportBlock(at: now) : sources[index].reception.lastBlock(at: now)
            if let block {
                blocks.append(sources[index].inTicks(block))
            }
            nextReported = (index + 1) % sources.count
        }
        return blocks
    }

    /// Makes the blocks of a brief report: on the sources that read a status, without beginning a new interval.
    func briefReportBlocks(at now: Instant) -> [ReportBlock] {
        let blocks = sources.lazy.filter(\.transmission.isStated).compactMap { source in
            source.reception.presentBlock(at: now).map(source.inTicks)
        }
        return Array(blocks.prefix(ReportBlock.maximumCount))
    }

    /// Makes the extended report blocks (RFC 3611) about the sources of `blocks`: on lost packets, and on the playout
    /// of the stream. They are made while packets are lost and for 15 seconds after, so that senders learn of the end
    /// of the loss. They are also made while the card does not play all audio.
    func details(
        on blocks: [ReportBlock], maximumDelay: Duration, at now: Instant
    ) -> [ExtendedReport.Block] {
        var details: [ExtendedReport.Block] = []
        for source in sources where blocks.contains(where: { $0.ssrc == source.ssrc }) {
            let isLossy = source.trace.isLossy(at: now, within: Self.memoryOfDetails)
            let missingShare = source.played.missingShare(at: now)
            guard isLossy || missingShare > 0 else { continue }
            if isLossy { details.append(.lossRLE(source.trace.lossReport(on: source.ssrc))) }
            var metrics = source.metrics(maximumDelay: maximumDelay)
            metrics.discardRate = UInt8(clamping: Int((missingShare * 256).rounded(.up)))
            details.append(.voipMetrics(metrics))
        }
        return details
    }

    private static let memoryOfDetails = Duration.seconds(15)
}

extension SourceDescription.Chunk {
    /// The CNAME if it has the form `doe@host.example.com`. Nil if it has another form, because a random CNAME (RFC
    /// 7022) means nothing to a person.
    fileprivate var personalCanonicalName: String? {
        self[.canonicalName].flatMap { $0.text.contains("@") ? $0.text : nil }
    }
}
