internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourSession

/// A relay of a link with its addresses, which are looked up again while no relay answers, or while they are not known.
/// Use it on the network thread only.
struct FoundRelay {
    private var relay: ChannelSettings.Relay
    private let tracker: HostTracker?

    /// The shortest time between two lookups of a relay's name.
    static let findInterval = Duration.seconds(30)

    init(_ relay: ChannelSettings.Relay, at now: Instant) {
        self.relay = relay
        tracker = relay.host.map {
            HostTracker($0.name, port: $0.port, every: Self.findInterval, atMost: Self.findInterval, at: now)
        }
    }

    var candidates: [RelayCandidate] { relay.endpoints.map { RelayCandidate(id: relay.id, endpoint: $0) } }

    /// Looks up the relay's name if a lookup is due. Returns whether addresses have been found.
    mutating func poll(isReached: Bool, at now: Instant) -> Bool {
        guard let found = tracker?.poll(isReached: isReached && !relay.endpoints.isEmpty, at: now) else { return false }
        relay.endpoints = found
        return true
    }
}
