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
    /// The number of requests: one for each press of the key, however often it was repeated.
    public var requestCount = 0
    /// The number of requests that were denied.
    public var deniedCount = 0
    /// The number of messages that were ignored, because more came than a member may send.
    public var limitedCount = 0
    /// How often the floor was taken back because the member talked too long.
    public var overlongCount = 0
    /// The number of requests under the SSRC of another member.
    public var foreignSSRCCount = 0
    /// The number of emergencies that counted as normal requests, because the last one was less than a minute ago.
    public var surplusEmergencyCount = 0
    /// The number of packets that came while the member did not have the floor.
    public var unpermittedPacketCount = 0

    public init() {}

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.requestCount += right.requestCount
        sum.deniedCount += right.deniedCount
        sum.limitedCount += right.limitedCount
        sum.overlongCount += right.overlongCount
        sum.foreignSSRCCount += right.foreignSSRCCount
        sum.surplusEmergencyCount += right.surplusEmergencyCount
        sum.unpermittedPacketCount += right.unpermittedPacketCount
        return sum
    }
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
    /// Whether it has requested the floor. A station may ask who has the floor, and talk without requesting it.
    var isAware = false
    /// Whether it has sent any message about the floor.
    var hasAsked = false
    /// The SSRC in its last request.
    var ssrc: SSRC?
    /// The request with the highest number among those that are over.
    var decided: Decided?
    /// The highest number that was counted as a request.
    var countedNumber: UInt32 = 0
    /// The time until which media is forwarded that was sent before the floor was released; nil if there is none.
    var tailEnd: Instant?
    /// The end of the pause after it talked too long; nil if it never did.
    var pausedUntil: Instant?
    /// The time from which on its next emergency counts as one; nil if it has had none.
    var nextEmergency: Instant?
    var limit = CellRateLimit()
    var counts = FloorMemberCounts()

    init(mayTalk: Bool) { self.mayTalk = mayTalk }
}
