public import TenfourAudioCore
public import TenfourFloor
public import TenfourPackets
internal import TenfourUV

/// How a session requests the floor before it talks (Protocol/10-floor.md).
public enum FloorUse: Hashable, Sendable {
    /// It does not know floor control: it talks, and others wait while they hear it.
    case none
    /// It requests the floor in a channel that requires it, and nowhere else.
    case ifRequired
    /// It requests the floor always. `waits`: a request waits in the queue while another talks.
    case always(waits: Bool)
}

/// What a session reports about the floor.
public enum FloorNotice: Hashable, Sendable {
    /// Whether the session must request the floor from now on.
    case isNeeded(Bool)
    case event(FloorEvent)
    /// A request has had no answer for a second. It is repeated until it is taken back.
    case unanswered
}

/// The floor as the session sees it.
public struct FloorSnapshot: Hashable, Sendable {
    /// Whether the session must request the floor before it talks.
    public var isNeeded: Bool
    /// The session's own request or permission.
    public var state: FloorParticipant.State
    /// The other station that has the floor; nil if nobody has, or this station.
    public var talker: SSRC?
    /// Whether the one who has the floor, that station or this one, talks in an emergency.
    public var isEmergency: Bool
    /// The time since this station learned who has the floor; nil if nobody has.
    public var heldFor: Duration?
    /// Whether the other end arbitrates.
    public var otherEnd: FloorParticipant.OtherEnd
}

extension RadioSession {
    /// Requests the floor. The answer comes to the observer. `time` is the time of the key by CLOCK_MONOTONIC. With
    /// `isEmergency` the priority of the request, or of the permission, becomes that of an emergency.
    public func requestFloor(isEmergency: Bool = false, at time: Instant) {
        send(.press(isEmergency ? .emergency : .normal, time))
    }

    /// Releases the floor after the last packet, or takes the request back.
    public func releaseFloor() { send(.release) }

    /// Calls `observe` with each notice, on the network thread, in place of an earlier observer. It must return soon,
    /// and may call this session. From then on media is sent only with the floor, where the floor is needed.
    public func observeFloor(_ observe: @escaping @Sendable (FloorNotice) -> Void) {
        controls.floor.setObserver(observe)
        network.wakeup.signal()
    }

    private func send(_ command: FloorControls.Command) {
        controls.floor.append(command)
        network.wakeup.signal()
    }
}
