internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Posts each change of our membership as an event, once.
struct MembershipStanding: Sendable {
    private var current = Standing.unknown
    /// The time at which the pending refusal for the reason `unproved` is reported; nil if none is pending. The report
    /// is cancelled if the relay lets us in earlier.
    private(set) var deadline: Instant?
    private var lastCollision: Instant?

    enum Standing: Equatable {
        case unknown
        case joined(PeerAddress)
        case lost
        case refused(Refusal.Reason)
        case closed(Refusal.Reason)
    }

    /// The time for which joining continues after a refusal for the reason `unproved`, before this refusal is reported.
    static let unprovedPatience = Duration.seconds(3)

    /// Whether no event about our membership has been posted yet.
    var isUnknown: Bool { current == .unknown }
    var isJoined: Bool { if case .joined = current { true } else { false } }

    /// Posts the event for `standing` if the last reported standing was different.
    mutating func report(_ standing: Standing, as role: Role, _ events: inout ChannelEvents) {
        guard standing != current else { return }
        current = standing
        switch standing {
        case .joined(let address): events.post(.joined(role, seenAt: Endpoint(address)))
        case .lost: events.post(.lost)
        case .refused(let reason): events.post(.refused(reason))
        case .closed(let reason): events.post(.closed(reason))
        case .unknown: break
        }
    }

    /// Notes the address at which another relay sees us. Posts nothing, because we were in the channel all the time.
    mutating func moved(to address: PeerAddress) {
        if isJoined { current = .joined(address) }
    }

    /// Handles a refusal for the reason `unproved`. Anybody may have sent the refusal, so it is reported only if the
    /// relay has not let us in within 3 s.
    mutating func unprovedRefusalArrived(at now: Instant) {
        if deadline == nil, current != .refused(.unproved) { deadline = now + Self.unprovedPatience }
    }

    /// Cancels the pending report of a refusal for the reason `unproved`, because the relay has let us in or we have
    /// left.
    mutating func refusalIsOver() { deadline = nil }

    /// Reports the pending refusal for the reason `unproved` if `deadline` has passed.
    mutating func timeElapsed(as role: Role, _ events: inout ChannelEvents, at now: Instant) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        report(.refused(.unproved), as: role, &events)
    }

    /// Posts that another member uses our SSRC, at most once in `RTPSession.collisionInterval`. Without this limit, a
    /// member that took a new SSRC at each collision would never be heard.
    mutating func reportCollision(_ events: inout ChannelEvents, at now: Instant) {
        if let lastCollision, now - lastCollision < RTPSession.collisionInterval { return }
        lastCollision = now
        events.post(.ssrcIsTaken)
    }
}
