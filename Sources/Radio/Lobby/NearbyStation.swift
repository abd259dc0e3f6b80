public import TenfourDNSSD
public import TenfourSession

/// A station that announces itself on the local network. What it says about itself is not authenticated.
public struct NearbyStation: Hashable, Sendable, Identifiable {
    /// Whether the station answers probes (Protocol/12-call.md).
    public enum Reachability: Hashable, Sendable {
        /// No probe was answered yet, or the station knows no probes.
        case unknown
        /// The last probe was answered after this time.
        case answers(after: Duration)
        /// The last probe was not answered within 3 s.
        case unreachable
    }

    public let id: FoundService.ID
    /// The key by which a person chooses the station, 1…9. It stays the same as long as the station is announced.
    public let digit: Int
    /// The name, safe to display, at most 63 characters.
    public let name: String
    /// The host's name, such as `pi.local`, safe to display.
    public let host: String
    /// The endpoint to call: the one that has answered, or else the first that was announced.
    public let endpoint: Endpoint
    /// Whether the station has announced that it takes calls. If not, plain RTP is sent to it.
    public let takesCalls: Bool
    public let reachability: Reachability
}

/// The stations that a person can choose, and what is known about the others.
public struct NearbyList: Hashable, Sendable {
    /// The stations with a digit, by digit: at most 9.
    public var stations: [NearbyStation] = []
    /// The number of further stations, which have no digit.
    public var otherCount = 0

    public init() {}

    /// The station with this digit; nil if there is none.
    public subscript(digit: Int) -> NearbyStation? { stations.first { $0.digit == digit } }
}
