internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Tells people once about each change of our membership.
struct MembershipStanding: Sendable {
    private var current = Standing.unknown
    /// When an unproved refusal is reported, unless another answer comes before.
    private(set) var deadline: Instant?
    private var lastCollision: Instant?

    enum Standing: Equatable {
        case unknown
        case joined(PeerAddress)
        case lost
        case refused(Refusal.Reason)
        case closed(Refusal.Reason)
    }

    /// How long joining goes on after a refusal without proof before it is reported.
    static let unprovedPatience = Duration.seconds(3)

    /// Whether nothing has been reported yet.
    var isUnknown: Bool { current == .unknown }
    var isJoined: Bool { if case .joined = current { true } else { false } }

    /// Posts a standing that differs from the last one.
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

    /// A refusal without proof has come. Anybody may have sent it: the true answer may still come.
    mutating func unprovedRefusalArrived(at now: Instant) {
        if deadline == nil, current != .refused(.unproved) { deadline = now + Self.unprovedPatience }
    }

    /// Another answer has come.
    mutating func refusalIsOver() { deadline = nil }

    /// Reports an unproved refusal if it is due.
    mutating func timeElapsed(as role: Role, _ events: inout ChannelEvents, at now: Instant) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        report(.refused(.unproved), as: role, &events)
    }

    /// Posts that another member uses our SSRC, at most once in `RTPSession.collisionInterval`: a member that changed its SSRC
    /// at each claim of another would never be heard.
    mutating func reportCollision(_ events: inout ChannelEvents, at now: Instant) {
        if let lastCollision, now - lastCollision < RTPSession.collisionInterval { return }
        lastCollision = now
        events.post(.ssrcIsTaken)
    }
}
