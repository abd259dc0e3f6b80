import Keys
import Membership
import Radio

/// How a session stands with its channel, and what is to be said of it.
struct ChannelStanding {
    /// Of the relay, or of the station that answers; nil where we answer ourselves, or there is no channel.
    private let place: String?
    private var state = State.asking
    private var wasInside = false

    private enum State {
        case asking, inside, lost
        case refused(Refusal.Reason)
        case closed(Refusal.Reason)
    }

    init(_ configuration: SessionConfiguration) {
        guard case .channel(let settings) = configuration.protection, let relay = settings.relay else {
            place = nil
            return
        }
        let endpoint = "\(relay.endpoints[0])"
        place = relay.host.map { endpoint.hasPrefix($0) ? endpoint : "\($0) (\(endpoint))" } ?? endpoint
    }

    /// Whether what is said goes anywhere, as far as we know.
    var isReached: Bool {
        if case .inside = state { true } else { place == nil }
    }

    mutating func take(_ event: ChannelEvent) {
        switch event {
        case .joined: (state, wasInside) = (.inside, true)
        case .lost: state = .lost
        case .refused(let reason): state = .refused(reason)
        case .closed(let reason): state = .closed(reason)
        case .ssrcIsTaken: break
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
        case .closed(let reason): reason.farewell
        case .ssrcIsTaken: nil
        }
    }

    /// Why a session that ended by itself, outside its channel, has not done what it was to do; nil where it has.
    var failure: RadioError? {
        guard let place else { return nil }
        switch state {
        case .inside: return nil
        case .asking, .lost:
            return wasInside
                ? RadioError(.failure, "nobody answered at \(place) any more")
                : RadioError(
                    .unavailable, "nobody has answered at \(place): is the relay running, and its UDP port open?")
        case .refused(let reason): return RadioError(wasInside ? .failure : .unavailable, reason.sentence)
        case .closed(let reason): return RadioError(.failure, reason.farewell)
        }
    }
}
