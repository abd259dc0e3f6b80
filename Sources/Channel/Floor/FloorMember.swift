internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

/// The number by which an arbiter knows a member; its caller gives it. A member keeps it as long as its session lasts.
public struct FloorMemberID: Hashable, Sendable {
    public var rawValue: UInt64

    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The counts of a member since it joined, for the status of the relay.
public struct FloorMemberCounts: Hashable, Sendable {
    /// The requests, each counted once for each press of the key.
    public var requestCount = 0
    /// The requests that were denied.
    public var deniedCount = 0
    /// The messages that were ignored, because more came than a member may send.
    public var limitedCount = 0
    /// The times at which the floor was taken back, because the member talked too long.
    public var overlongCount = 0
    /// The requests under an SSRC of another member.
    public var foreignSSRCCount = 0
    /// The emergencies that counted as normal requests, because there was one less than a minute ago.
    public var surplusEmergencyCount = 0
    /// The packets that came while the member did not have the floor.
    public var unpermittedPacketCount = 0

    public init() {}
}

/// A member's state at an arbiter.
struct FloorMember {
    /// A request that needs no further decision, and how it ended.
    struct Decided {
        enum Outcome {
            case ended
            case denied(FloorDenial)
            case revoked(FloorRevocation)
        }

        var number: UInt32
        var outcome: Outcome
    }

    let mayTalk: Bool
    /// Whether it has sent a message about the floor.
    var isAware = false
    /// The SSRC in its last request.
    var ssrc: SSRC?
    /// The request with the highest number among those that are over.
    var decided: Decided?
    /// The highest number that was counted as a request.
    var countedNumber: UInt32 = 0
    /// Until then media is forwarded that was sent before the floor was released.
    var tailEnd: Instant?
    /// It is granted nothing before.
    var pausedUntil: Instant?
    /// Its next emergency is one from this time on; nil: at once.
    var nextEmergency: Instant?
    var limit = CellRateLimit()
    var counts = FloorMemberCounts()

    init(mayTalk: Bool) { self.mayTalk = mayTalk }
}
