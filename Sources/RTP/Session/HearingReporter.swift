internal import TenfourAudioCore
internal import TenfourPackets

/// Decides when a member of a channel states how it receives the talkers, as its relay has asked (Protocol/06-control.md,
/// "Who hears the talker").
struct HearingReporter: Sendable {
    /// The talkers that transmit, according to the relay.
    private(set) var talkers: [Talker] = []
    private var interval = Duration.seconds(1)
    /// The time of the relay's last request, and the time at which it is over.
    private var lastRequest = Instant.start
    private var end = Instant.start
    /// The time of our last statement; nil before the first.
    private var last: Instant?
    /// The time at which a statement about a new talker is due.
    private var first: Instant?
    /// Whether something has changed that the talkers should know at once.
    private var hasNews = false
    /// Whether packets of a talker were lost within the last seconds, so that single statements may be lost.
    private var isLossy = false

    /// A talker that transmits, according to the relay.
    struct Talker: Sendable {
        let ssrc: SSRC
        /// The time of its last packet; that of the first request if none has come.
        fileprivate(set) var lastPacket: Instant
        /// Whether it transmits, according to a request that came after a while without its packets.
        fileprivate(set) var isMissing = false
        /// Whether nothing arrives of it, and perhaps nothing of the relay.
        fileprivate var isSilent = false
    }

    /// The time from the first request until the first statement: packets have come by then.
    private static let firstDelay = Duration.milliseconds(300)
    /// The minimum time between two statements.
    private static let earlyInterval = Duration.milliseconds(450)
    /// The time between two statements while packets are lost, or missing.
    private static let lossyInterval = Duration.milliseconds(500)
    /// The time without a packet of a talker after which its audio is missing, if a request then says that the relay has had
    /// packets of it within the last second. Without a request for that time, nothing of the relay may arrive.
    private static let silence = Duration.milliseconds(1_500)

    /// Reads a request of the relay. `own` is our SSRC.
    mutating func requestArrived(_ request: HearingRequest, own: SSRC, at now: Instant) {
        interval = max(request.interval, Self.earlyInterval)
        if now >= end { talkers = [] }
        (lastRequest, end) = (now, now + request.validity)
        talkers = request.talkers.prefix(HearingRequest.maximumTalkerCount).filter { $0 != own }.map { ssrc in
            var talker = talkers.first { $0.ssrc == ssrc } ?? Talker(ssrc: ssrc, lastPacket: now)
            if now - talker.lastPacket >= Self.silence {
                hasNews = hasNews || !talker.isMissing
                (talker.isMissing, talker.isSilent) = (true, true)
            } else if talker.lastPacket == now {
                first = first ?? now + Self.firstDelay
            }
            return talker
        }
    }

    /// Records a packet of any source.
    mutating func packetArrived(of ssrc: SSRC, at now: Instant) {
        guard let index = talkers.firstIndex(where: { $0.ssrc == ssrc }) else { return }
        talkers[index].lastPacket = now
        if talkers[index].isSilent { hasNews = true }
        (talkers[index].isMissing, talkers[index].isSilent) = (false, false)
    }

    /// States a change as soon as the minimum interval permits.
    mutating func expedite() { hasNews = true }

    /// The time of the next statement, or of a change that one states; nil if none is due.
    func deadline(at now: Instant) -> Instant? {
        guard !talkers.isEmpty, now < end else { return nil }
        guard let last else { return hasNews ? now : first ?? now }
        let earliest = last + Self.earlyInterval
        if hasNews { return earliest }
        let next = max(first ?? last + (isTroubled ? Self.lossyInterval : interval), earliest)
        return talkers.reduce(next) { next, talker in
            talker.isSilent ? next : min(next, max(max(talker.lastPacket, lastRequest) + Self.silence, earliest))
        }
    }

    private var isTroubled: Bool { isLossy || talkers.contains(where: \.isSilent) }

    /// Returns the statement that is due; nil if none is. `sources` are those from which packets have arrived.
    mutating func nextReport(_ output: StationStatus.Output, on sources: [Source], at now: Instant) -> HearingReport? {
        guard let deadline = deadline(at: now), deadline <= now else { return nil }
        for index in talkers.indices where now - max(talkers[index].lastPacket, lastRequest) >= Self.silence {
            talkers[index].isSilent = true
        }
        let heard = talkers.compactMap { talker in sources.first { $0.ssrc == talker.ssrc } }
        isLossy = heard.contains { $0.trace.isLossy(at: now) }
        let report = HearingReport(
            output: output, isUrgent: hasNews || first != nil || isTroubled,
            playouts: heard.map {
                StationStatus.Playout(
                    source: $0.ssrc, missingShare: $0.missingShare(at: now),
                    highestSequenceNumber: $0.reception.highestSequenceNumber)
            })
        (last, first, hasNews) = (now, nil, false)
        return report
    }
}
