internal import TenfourAudioCore
internal import TenfourPackets

/// The configured endpoints whose machines say that no program receives there (ICMP): nobody hears us through them.
struct RefusedEndpoints: Sendable {
    private struct Refusal: Sendable {
        let endpoint: Endpoint
        let first: Instant
        var last: Instant
        var isTold = false

        var isCertain: Bool { last - first >= RefusedEndpoints.certainty }
    }

    private var refusals: [Refusal] = []

    private static let maximumCount = 32
    /// The time between the first and the last error from which a refusal is certain: the program may just be starting.
    private static let certainty = Duration.milliseconds(500)
    /// The time after the last error for which a refusal holds. Many machines send one error per second.
    private static let memory = Duration.milliseconds(2_500)

    /// Records an error.
    mutating func refused(by endpoint: Endpoint, at now: Instant) {
        removeOld(at: now)
        if let index = refusals.firstIndex(where: { $0.endpoint == endpoint }) {
            refusals[index].last = now
        } else if refusals.count < Self.maximumCount {
            refusals.append(Refusal(endpoint: endpoint, first: now, last: now))
        }
    }

    /// Records a datagram from `endpoint`, where a program is then.
    mutating func datagramArrived(from endpoint: Endpoint) { refusals.removeAll { $0.endpoint == endpoint } }

    /// Removes the refusals that hold no more.
    mutating func removeOld(at now: Instant) { refusals.removeAll { now - $0.last >= Self.memory } }

    /// The endpoint that refuses what we send to a partner at `endpoint`, and since when. The reports of a partner which is
    /// not at a configured port come from the machine of one that is.
    func refusal(of endpoint: Endpoint, isConfigured: Bool) -> (endpoint: Endpoint, since: Instant)? {
        let refusal = refusals.first {
            $0.isCertain && ($0.endpoint == endpoint || !isConfigured && $0.endpoint.address == endpoint.address)
        }
        return refusal.map { ($0.endpoint, $0.first) }
    }

    /// Returns the certain refusals of endpoints at other addresses than those of `partners`, each once.
    mutating func takeNews(besides partners: [IPAddress], at now: Instant) -> [Hearing] {
        var news: [Hearing] = []
        for index in refusals.indices {
            let refusal = refusals[index]
            guard refusal.isCertain, !refusal.isTold, !partners.contains(refusal.endpoint.address) else { continue }
            refusals[index].isTold = true
            news.append(
                Hearing(ssrc: nil, endpoint: refusal.endpoint, state: .refused, duration: now - refusal.first))
        }
        return news
    }

    /// The time at which the first of the refusals holds no more; nil without any.
    var deadline: Instant? { refusals.map { $0.last + Self.memory }.min() }
}
