internal import TenfourAudioCore
internal import TenfourPackets

/// Those who report but do not send: how many there are decides how often each may speak.
struct Listeners: Sendable {
    private var lastHeard: [SSRC: Instant] = [:]

    /// A larger audience is taken for one of this size.
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
