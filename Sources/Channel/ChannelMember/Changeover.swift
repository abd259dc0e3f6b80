internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// A member's change to another relay: the LEAVE that its former relay gets later, and the event that its user gets.
struct Changeover: Sendable {
    /// The relay that has let us in last; nil before the first one has.
    private(set) var relay: Endpoint?
    /// The session at the former relay, which is told later that we have left; nil if there is none.
    private var former: ChannelSession?
    /// The time at which the former relay is told.
    private(set) var deadline: Instant?
    /// The reason for which `relay` has ended our membership; nil if it has not.
    private var goodbye: Refusal.Reason?
    /// The reason of the last refusal by another relay since we were let in; nil if there was none.
    private var refusal: Refusal.Reason?

    /// The time from WELCOME of the new relay to LEAVE. Within it, the cluster learns that our stream is now sent by
    /// the new relay. A relay that is left earlier would tell all members that our stream has ended.
    static let patience = Duration.seconds(1)

    // MARK: - To the former relay

    mutating func leaveLater(_ session: ChannelSession, at now: Instant) {
        former = session
        deadline = now + Self.patience
    }

    /// Sends LEAVE in the session at the former relay, if there is one.
    mutating func sendLeave(into outbox: inout DatagramQueue) {
        former?.send(.leave, into: &outbox)
        former = nil
        deadline = nil
    }

    // MARK: - To the user

    mutating func dismissed(for reason: Refusal.Reason) { goodbye = reason }

    mutating func refused(for reason: Refusal.Reason) { refusal = reason }

    /// Notes that the relay at `endpoint` has let us in. Returns the event to post if it is another one than before, or
    /// the first of several.
    mutating func joined(_ endpoint: Endpoint, isOneOfSeveral: Bool) -> ChannelEvent? {
        defer { (relay, goodbye, refusal) = (endpoint, nil, nil) }
        guard relay != endpoint, relay != nil || isOneOfSeveral else { return nil }
        return .relayReached(endpoint, insteadOf: relay, because: goodbye)
    }

    /// The standing that the user sees when no relay has let the member in.
    func failure(isJoined: Bool) -> MembershipStanding.Standing {
        if isJoined, let goodbye { return .closed(goodbye) }
        return refusal.map { .refused($0) } ?? .lost
    }
}
