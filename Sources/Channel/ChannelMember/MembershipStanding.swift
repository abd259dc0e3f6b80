internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Posts each change of our membership as an event, once.
struct MembershipStanding: Sendable {
    private var current = Standing.unknown
    /// The time at which the pending hint is reported; nil if none is pending. The report is cancelled if the relay lets us
    /// in earlier.
    private(set) var deadline: Instant?
    /// An answer that anybody may have sent: a refusal for the reason `unproved`, or the reason why the relay seems to be another one.
    private var hint = Standing.unknown
    private var lastCollision: Instant?

    enum Standing: Equatable {
        case unknown
        case joined(PeerAddress)
        case lost
        case refused(Refusal.Reason)
        case doubted(RelayDoubt)
        case closed(Refusal.Reason)
    }

    /// The time for which joining continues after a hint, before the hint is reported.
    static let hintPatience = Duration.seconds(3)

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
        case .doubted(let doubt): events.post(.relayDoubted(doubt))
        case .closed(let reason): events.post(.closed(reason))
        case .unknown: break
        }
    }

    /// Notes the address at which another relay sees us. Posts nothing, because we were in the channel all the time.
    mutating func moved(to address: PeerAddress) {
        if isJoined { current = .joined(address) }
    }

    /// Handles a hint. Anybody may have sent it, so it is reported only if the relay has not let us in within 3 s. Of several
    /// hints the first is reported.
    mutating func hintArrived(_ standing: Standing, at now: Instant) {
        guard deadline == nil, current != standing else { return }
        hint = standing
        deadline = now + Self.hintPatience
    }

    /// Cancels the pending report of a hint, because the relay has let us in or we have left.
    mutating func refusalIsOver() { deadline = nil }

    /// Reports the pending hint if `deadline` has passed.
    mutating func timeElapsed(as role: Role, _ events: inout ChannelEvents, at now: Instant) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        report(hint, as: role, &events)
    }

    /// Posts that another member uses our SSRC, at most once in `RTPSession.collisionInterval`. Without this limit, a
    /// member that took a new SSRC at each collision would never be heard.
    mutating func reportCollision(_ events: inout ChannelEvents, at now: Instant) {
        if let lastCollision, now - lastCollision < RTPSession.collisionInterval { return }
        lastCollision = now
        events.post(.ssrcIsTaken)
    }
}
