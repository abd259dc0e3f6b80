import TenfourPackets
import TenfourSession

/// Limits the notices about strangers, since anybody who reaches our port can join, leave and change a name at any
/// rate.
///
/// A stranger is a peer whose address the user has not typed. Notices about other peers are always shown.
struct StrangerNotices {
    private var known: Set<IPAddress>
    /// The start of the minute that began with a notice about a stranger; nil if no such minute is running.
    private var start: ContinuousClock.Instant?
    /// The number of notices about strangers that were shown in this minute.
    private var shownCount = 0
    /// The number of notices about strangers that were left out in this minute.
    private var hiddenCount = 0

    /// The maximum number of notices per minute; further notices are counted and left out. Ten talkers that join
    /// together cause twenty notices.
    static let maximumCount = 30
    private static let interval = Duration.seconds(60)

    init(remotes: [Endpoint]) { known = Set(remotes.map(\.address)) }

    /// Returns whether the notice about `event` may be shown; `names` are the names known before the event.
    mutating func mayShow(_ event: Event, _ names: TalkerNames, at now: ContinuousClock.Instant) -> Bool {
        guard isOfStranger(event, names) else { return true }
        if start == nil { start = now }
        guard shownCount < Self.maximumCount else {
            hiddenCount += 1
            return false
        }
        shownCount += 1
        return true
    }

    /// Returns a line with the number of notices left out, once the minute or the session is over. Returns nil before
    /// that, or if none were left out.
    mutating func summary(at now: ContinuousClock.Instant, isOver: Bool = false) -> String? {
        guard let start, isOver || now - start >= Self.interval else { return nil }
        defer { (self.start, shownCount, hiddenCount) = (nil, 0, 0) }
        guard hiddenCount > 0 else { return nil }
        let lines = hiddenCount == 1 ? "1 more line is" : "\(hiddenCount) more lines are"
        let bound = "more than \(Self.maximumCount) times in a minute"
        return "\(lines) not shown: strangers came, left or changed their names \(bound)"
    }

    private mutating func isOfStranger(_ event: Event, _ names: TalkerNames) -> Bool {
        switch event {
        case .sourceAppeared(_, let endpoint), .reporterAppeared(_, _, let endpoint),
            .opusRecognised(_, _, let endpoint), .payloadTypeUnknown(_, _, let endpoint):
            return isStranger(endpoint)
        case .sourceNamed(let ssrc, _), .sourceLeft(let ssrc, _), .reporterLeft(let ssrc, _),
            .sourceLooksEncrypted(let ssrc), .sourceClockIsWrong(let ssrc, _),
            .sourcesCollide(let ssrc, _, _), .sourceSendsTooFast(let ssrc, _),
            .keyPressed(let ssrc, _), .mediaMissing(let ssrc), .mediaReturned(let ssrc, _):
            return names.endpoint(of: ssrc).map(isStranger) ?? true
        case .partnerMoved(let endpoint):
            known.insert(endpoint.address)
            return false
        case .identityChanged, .receiverReported, .hearingChanged: return false
        }
    }

    /// Returns whether the peer at `endpoint` is a stranger. Members behind a relay have no address and are no
    /// strangers, since the relay limits their number.
    private func isStranger(_ endpoint: Endpoint) -> Bool {
        !endpoint.address.isUnspecified && !known.contains(endpoint.address)
    }
}
