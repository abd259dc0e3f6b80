public import TenfourAudioCore
public import TenfourPackets

/// Grants the floor of one channel, or of one call, to one member at a time (Protocol/10-floor.md).
///
/// Opens no socket, reads no clock, starts no thread. After each input, take messages until nil, then arm one timer for
/// `nextDeadline`. Memory is bounded by the number of members that joined, and a constant.
public struct FloorArbiter: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The relay drops media of members that do not have the floor.
        public var isRequired: Bool
        /// The longest time for which a member keeps the floor; nil if there is no bound.
        public var longestTalk: Duration?

        public init(isRequired: Bool = false, longestTalk: Duration? = .seconds(180)) {
            self.isRequired = isRequired
            self.longestTalk = longestTalk
        }
    }

    /// The member that has the floor.
    public struct Talker: Hashable, Sendable {
        public internal(set) var member: FloorMemberID
        public let ssrc: SSRC
        public internal(set) var priority: FloorPriority
        /// It knows no floor control, and has the floor because it was heard.
        let isUnaware: Bool
        /// The number of its request; zero if it knows no floor control.
        let number: UInt32
        /// The end of its permission.
        let end: Instant?
        var lastHeard: Instant

        /// The time at which it has vanished, if nothing comes from it.
        var vanishing: Instant {
            lastHeard + (isUnaware ? FloorTiming.unawareTalker : FloorTiming.vanishedTalker)
        }
    }

    public enum Destination: Hashable, Sendable {
        case member(FloorMemberID)
        /// All members, the talker too.
        case everyone
    }

    /// A floor that was taken back, which the member may not know.
    struct Revoked {
        var member: FloorMemberID
        var number: UInt32
        var ssrc: SSRC
        var cause: FloorRevocation
        var end: Instant
        var next: Instant
    }

    var configuration: Configuration
    /// The member that has the floor; nil if it is idle.
    public internal(set) var talker: Talker?
    /// The number of the last decision.
    public internal(set) var revision: FloorRevision
    /// Whether this arbiter decides. In a cluster only the leader's does.
    public internal(set) var isActive: Bool
    var members: [FloorMemberID: FloorMember] = [:]
    /// The counts of the members that have left.
    private(set) var departed = FloorMemberCounts()
    var queue = FloorQueue()
    var revoked: [Revoked] = []
    /// The time until which a new leader answers only requests with the flag "sends now"; nil if that is over.
    var takeoverEnd: Instant?
    var nextGrant: Instant?
    var announcement: FloorRepetition?
    private var outgoing = FloorOutbox<(to: Destination, FloorMessage)>()

    /// Creates an arbiter without members. If `isActive` is false, it decides nothing before `lead`.
    public init(_ configuration: Configuration = Configuration(), isActive: Bool = true) {
        self.configuration = configuration
        self.isActive = isActive
        revision = FloorRevision(term: isActive ? 1 : 0)
    }

    /// Adds a member, and tells it who has the floor. `mayTalk` is false for a listener.
    public mutating func join(_ id: FloorMemberID, mayTalk: Bool = true, at now: Instant) {
        guard members[id] == nil else { return }
        members[id] = FloorMember(mayTalk: mayTalk)
        if isActive { send(state(answering: 0, at: now), to: .member(id)) }
    }

    /// Removes a member. If it has the floor, the floor is idle at once.
    public mutating func leave(_ id: FloorMemberID, at now: Instant) {
        guard let left = members.removeValue(forKey: id) else { return }
        departed = departed + left.counts
        revoked.removeAll { $0.member == id }
        if let index = queue.index(of: id) {
            _ = queue.remove(at: index)
            sendPositions()
        }
        if talker?.member == id { endTalk(.ended, at: now, passesOn: true) }
    }

    /// The number of requests that wait.
    package var queueCount: Int { queue.entries.count }

    /// The counts of a member's messages and audio; nil if it is not a member.
    public func counts(of id: FloorMemberID) -> FloorMemberCounts? { members[id]?.counts }

    /// The next message to be sent.
    public mutating func nextMessage() -> (to: Destination, FloorMessage)? { outgoing.take() }

    mutating func send(_ message: FloorMessage, to destination: Destination) { outgoing.append((destination, message)) }
}
