import TenfourPackets
import TenfourSession

/// Bounds the lines about strangers: anybody who reaches our port can come, go and change a name at any rate.
///
/// Strangers are all whose address nobody typed. News of the others are always shown.
struct StrangerNotices {
    private var known: Set<IPAddress>
    /// The minute that began with a line about a stranger.
    private var start: ContinuousClock.Instant?
    private var shownCount = 0
    private var hiddenCount = 0

    /// Lines in a minute. A group of ten talkers that come at once takes twenty.
    static let maximumCount = 30
    private static let interval = Duration.seconds(60)

    init(remotes: [Endpoint]) { known = Set(remotes.map(\.address)) }

    /// Whether there is a line left for the event; `names` are those that were known before it.
    mutating func mayShow(_ event: Event, _ names: Names, at now: ContinuousClock.Instant) -> Bool {
        guard isOfStranger(event, names) else { return true }
        if start == nil { start = now }
        guard shownCount < Self.maximumCount else {
            hiddenCount += 1
            return false
        }
        shownCount += 1
        return true
    }

    /// How many lines were left out, once their minute or the session is over.
    mutating func summary(at now: ContinuousClock.Instant, isOver: Bool = false) -> String? {
        guard let start, isOver || now - start >= Self.interval else { return nil }
        defer { (self.start, shownCount, hiddenCount) = (nil, 0, 0) }
        guard hiddenCount > 0 else { return nil }
        let lines = hiddenCount == 1 ? "1 more line is" : "\(hiddenCount) more lines are"
        let bound = "more than \(Self.maximumCount) times in a minute"
        return "\(lines) not shown: strangers came, left or changed their names \(bound)"
    }

    private mutating func isOfStranger(_ event: Event, _ names: Names) -> Bool {
        switch event {
        case .sourceAppeared(_, let endpoint), .reporterAppeared(_, _, let endpoint): return isStranger(endpoint)
        case .sourceNamed(let ssrc, _), .sourceLeft(let ssrc, _), .reporterLeft(let ssrc, _),
            .sourceLooksEncrypted(let ssrc):
            return names.endpoint(of: ssrc).map(isStranger) ?? true
        case .partnerMoved(let endpoint):
            known.insert(endpoint.address)
            return false
        case .identityChanged, .receiverReported: return false
        }
    }

    /// Those behind a relay have no address, and the relay bounds how many there are.
    private func isStranger(_ endpoint: Endpoint) -> Bool {
        !endpoint.address.isUnspecified && !known.contains(endpoint.address)
    }
}
