public import RTP
public import Sound

/// One who sends to us: what arrived, from where, and what it calls itself.
public struct Source: Sendable {
    public let ssrc: SSRC
    /// Where its media came from last.
    public internal(set) var endpoint: Endpoint
    public internal(set) var reception: ReceptionStatistics
    /// What it says it is called, fit to be shown.
    public internal(set) var name: String?
    public internal(set) var lastHeard: Instant
    var canonicalName: [UInt8]?

    init(ssrc: SSRC, endpoint: Endpoint, at now: Instant) {
        self.ssrc = ssrc
        self.endpoint = endpoint
        lastHeard = now
        reception = ReceptionStatistics(ssrc: ssrc)
    }
}
