internal import TenfourAudioCore
internal import TenfourPackets

/// Counts the participants that report and send no media. Their number determines how often each may report.
struct Listeners: Sendable {
    private var lastHeard: [SSRC: Instant] = [:]

    /// The maximum number of listeners that are counted. Further listeners are ignored.
    static let maximumCount = 1_024

    var count: Int { lastHeard.count }

    mutating func heard(_ ssrc: SSRC, at now: Instant) {
        guard lastHeard[ssrc] != nil || count < Self.maximumCount else { return }
        lastHeard[ssrc] = now
    }

    mutating func remove(_ ssrc: SSRC) { lastHeard[ssrc] = nil }

    mutating func removeSilent(since limit: Instant) {
        guard lastHeard.values.contains(where: { $0 < limit }) else { return }
        lastHeard = lastHeard.filter { $0.value >= limit }
    }
}
