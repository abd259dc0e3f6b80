public import TenfourAudioCore
public import TenfourPackets

/// A station's part of floor control: it requests the floor while a key is down, and says whether the station may send
/// (Protocol/10-floor.md; 3GPP TS 24.380 section 6.2.4).
///
/// Opens no socket, reads no clock, starts no thread. After each input, take messages until nil, then events until nil,
/// then arm one timer for `nextDeadline`.
public struct FloorParticipant: Sendable {
    public enum State: Hashable, Sendable {
        case noPermission
        case pendingRequest
        case queued(position: Int, size: Int)
        /// The only state in which the station sends media.
        case permission
        case pendingRelease
    }

    /// Whether the other end knows floor control.
    public enum OtherEnd: Hashable, Sendable {
        /// Nothing has been heard yet, and it is too early to say.
        case unknown
        case arbitrates
        /// It knows no floor control: the floor is free while nobody is heard.
        case unaware
    }

    public internal(set) var state = State.noPermission
    public internal(set) var otherEnd = OtherEnd.unknown
    /// The other station that has the floor; nil if nobody has, or this station.
    public internal(set) var talker: SSRC?
    /// The priority of `talker`.
    public internal(set) var talkerPriority = FloorPriority.normal
    /// The priority of the permission, or of the request.
    public internal(set) var priority = FloorPriority.normal
    /// The end of the permission; nil if there is no bound, or no permission.
    public internal(set) var permissionEnd: Instant?
    /// Whether the relay drops media of members that do not have the floor.
    public internal(set) var isRequired = false

    /// The station's SSRC. After a change the next request has the new one.
    public var ssrc: SSRC
    var waits = false
    /// Whether the key is down.
    var isPressed = false
    var number: UInt32 = 0
    /// The highest revision heard in this session, and the one by which the permission was last granted.
    var heard = FloorRevision()
    var grantedBy = FloorRevision()
    var lastGrant = Instant.start
    /// Whether the permission was interrupted, and the arbiter may not know it.
    var isInterrupted = false
    var lastTaken: Instant?
    var lastMedia: Instant?
    var repetition: FloorRepetition?
    var releaseEnd: Instant?
    var questions: FloorRepetition?
    var verdict: Instant?
    var outgoing = FloorOutbox<FloorMessage>()
    var events = FloorOutbox<FloorEvent>()

    public init(ssrc: SSRC) { self.ssrc = ssrc }

    /// Whether the station may send media now.
    public var maySend: Bool { state == .permission }

    /// The next message to the arbiter.
    public mutating func nextMessage() -> FloorMessage? { outgoing.take() }

    /// The next event for the user.
    public mutating func nextEvent() -> FloorEvent? { events.take() }
}

/// An event of the floor for the user.
public enum FloorEvent: Hashable, Sendable {
    /// The station may send.
    case granted(FloorPriority, until: Instant?)
    /// The request is denied. `talker` has the floor, nil if nobody or if that is unknown.
    case denied(FloorDenial, talker: SSRC?, retryAfter: Duration)
    /// The request waits.
    case queued(position: Int, size: Int)
    /// The permission is over, or the request has left the queue.
    case revoked(FloorRevocation, retryAfter: Duration)
    /// The arbiter has not been heard for 500 ms. The station does not send until it is granted the floor again.
    case interrupted
    /// Another station has the floor.
    case taken(by: SSRC, FloorPriority)
    /// Nobody has the floor.
    case idle
    /// The other end knows no floor control.
    case unaware
}
