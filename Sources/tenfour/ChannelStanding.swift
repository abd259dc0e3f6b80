import Keys
import Membership
import Radio

/// How a session stands with its channel, and what is to be said of it.
struct ChannelStanding {
    /// Of the relay, or of the station that answers; nil where we answer ourselves, or there is no channel.
    private let place: String?
    private var isInside = false
    private var wasInside = false

    init(_ configuration: SessionConfiguration) {
        guard case .channel(let settings) = configuration.protection, let relay = settings.relay else {
            place = nil
            return
        }
        let endpoint = "\(relay.endpoints[0])"
        place = relay.host.map { endpoint.hasPrefix($0) ? endpoint : "\($0) (\(endpoint))" } ?? endpoint
    }

    /// Whether what is said goes anywhere, as far as we know.
    var isReached: Bool { isInside || place == nil }

    mutating func take(_ event: ChannelEvent) {
        switch event {
        case .joined: (isInside, wasInside) = (true, true)
        case .lost, .refused, .closed: isInside = false
        case .ssrcIsTaken, .limited, .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners: break
        }
    }

    /// After `take` of it.
    func news(of event: ChannelEvent, verbose: Bool) -> String? {
        switch event {
        case .joined(let role, let endpoint):
            (role == .talk ? "in the channel" : "in the channel, to listen") + (verbose ? ", seen at \(endpoint)" : "")
        case .lost:
            "nobody answers at \(place ?? "the link's address")\(wasInside ? " any more" : ""); "
                + "it is asked again until somebody does"
        case .refused(let reason): reason.sentence
        case .closed(.left): "\(place ?? "who answered") has left; it is asked again until it is back"
        case .closed(let reason): reason.farewell
        case .ssrcIsTaken, .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners: nil
        case .limited(let limits):
            """
            the relay takes \(limits.packetsPerSecond) packets and \(limits.bitsPerSecond / 1_000) kbit a second of a talker, and \
            what is more is lost: take a longer --frame or a lower --bitrate, or ask its operator for more
            """
        }
    }
}
