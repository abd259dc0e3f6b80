public import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

/// The floor of one channel at one relay (Protocol/10-floor.md).
///
/// It arbitrates, or passes messages to and from the relay of its cluster that does. Opens no socket, reads no clock.
/// After each input, take outputs until nil, then arm one timer for `nextDeadline`.
public struct ChannelFloor: Sendable {
    public enum Output: Hashable, Sendable {
        case toMember(UInt32, FloorMessage)
        case toAllMembers(FloorMessage)
        case toRelay(UInt128, FloorRelayMessage)
        case toAllRelays(FloorRelayMessage)
    }

    /// A member of this relay, while another relay arbitrates.
    struct LocalMember {
        var mayTalk: Bool
        var limit = CellRateLimit()
        /// The highest number of its requests.
        var number: UInt32 = 0
        var ssrc = SSRC(0)
        /// The offences that this relay has seen itself.
        var counts = FloorMemberCounts()
    }

    /// The talker of the last decision of an arbiter at another relay.
    struct HeardTalker {
        var ssrc: SSRC
        var priority: FloorPriority
        /// The time at which this relay learned of it.
        var since: Instant
    }

    /// A member of another relay, while this relay arbitrates.
    struct RemoteMember {
        var relay: UInt128
        var number: UInt32
        var lastHeard: Instant
    }

    /// The most members of other relays that are remembered.
    static let remoteCapacity = 1_024

    let channel: UInt64
    public private(set) var configuration: FloorArbiter.Configuration
    /// The members that have sent a message about the floor. Nobody else is told anything.
    var participants: Set<UInt32> = []
    public internal(set) var arbiter: FloorArbiter
    var leader: FloorLeader?
    /// The term in which this relay arbitrates, or did last.
    var ownTerm: UInt32 = 1
    var members: [UInt32: LocalMember] = [:]
    /// The counts of the members of this relay that have left, as far as another relay arbitrated.
    var departed = FloorMemberCounts()
    var remoteMembers: [FloorMemberID: RemoteMember] = [:]
    /// The numbers of other relays in `FloorMemberID`; this relay's is zero.
    var relayNumbers: [UInt128: UInt32] = [:]
    private var nextRelayNumber: UInt32 = 1
    /// The last decision of the arbiter at another relay.
    var heard = FloorRevision()
    /// The talker by another relay's arbiter.
    var remoteTalker: HeardTalker?
    /// The talker that has released the floor last, and the time until which its last packets are forwarded.
    var remoteTail: (ssrc: SSRC, end: Instant)?
    /// The talker by another relay's arbiter that has talked too long, and the time until which it must be silent if it knows no
    /// floor control.
    var remotePause: (ssrc: SSRC, end: Instant)?
    /// Whether somebody has requested the floor, or the channel requires it. Before that, one who is heard is not taken
    /// for a talker that knows no floor control: in most channels nobody ever uses the floor.
    public internal(set) var isInUse: Bool
    private var outputs = FloorOutbox<Output>()

    /// Creates the floor of a channel without members. `relay` is the boot id in a cluster, nil for a single relay;
    /// `channel` is the channel's tag in the cluster.
    public init(_ configuration: FloorArbiter.Configuration, relay: UInt128? = nil, channel: UInt64 = 0) {
        self.channel = channel
        self.configuration = configuration
        isInUse = relay == nil || configuration.isRequired
        arbiter = FloorArbiter(configuration, isActive: relay == nil)
        leader = relay.map { FloorLeader(own: $0) }
    }

    /// The next message to be sent.
    public mutating func nextOutput() -> Output? { outputs.take() }

    /// Whether there is something to be sent.
    public var hasOutput: Bool { !outputs.isEmpty }

    /// The members to which messages for all members are sent.
    public var audience: Set<UInt32> { participants }

    /// Sets another configuration. The talker keeps the floor.
    public mutating func change(to configuration: FloorArbiter.Configuration) {
        self.configuration = configuration
        arbiter.configuration = configuration
        if configuration.isRequired { isInUse = true }
    }

    /// Whether the relay is one of a cluster.
    public var isInCluster: Bool { leader != nil }

    public var nextDeadline: Instant? {
        guard let first = arbiter.nextDeadline else { return leader?.nextDeadline }
        guard let second = leader?.nextDeadline else { return first }
        return min(first, second)
    }

    /// Does what is due. An early or late call does no harm.
    public mutating func timeElapsed(at now: Instant) {
        leader?.timeElapsed(at: now)
        arbiter.timeElapsed(at: now)
        settle(at: now)
    }

    mutating func send(_ output: Output) { outputs.append(output) }

    /// The number by which the arbiter knows a member of another relay. The one heard longest ago makes room.
    mutating func id(of member: UInt32, at relay: UInt128, _ now: Instant) -> FloorMemberID {
        if relayNumbers[relay] == nil {
            relayNumbers[relay] = nextRelayNumber
            nextRelayNumber &+= 1
        }
        let id = FloorMemberID(UInt64(relayNumbers[relay]!) << 32 | UInt64(member))
        if remoteMembers[id] == nil {
            if remoteMembers.count >= Self.remoteCapacity,
                let oldest = remoteMembers.min(by: { $0.value.lastHeard < $1.value.lastHeard })?.key
            {
                remoteMembers[oldest] = nil
                arbiter.leave(oldest, at: now)
            }
            // Relays pass on only what a talker may request.
            arbiter.join(id, at: now)
        }
        remoteMembers[id] = RemoteMember(relay: relay, number: member, lastHeard: now)
        return id
    }

    /// Follows changes of the leader, and passes on what arbiter and leader have to say.
    mutating func settle(at now: Instant) {
        while let change = leader?.takeChange() {
            switch change {
            case .leads(let term, let afterAnother):
                ownTerm = term
                arbiter.lead(term: term, afterAnother: afterAnother, at: now)
            case .raisesTerm(let term):
                ownTerm = term
                arbiter.raise(term: term, at: now)
            case .stepsDown:
                arbiter.stepDown(at: now)
                heard = max(heard, arbiter.revision)
                remoteTalker = nil
            case .follows: break
            }
        }
        while let term = leader?.takeClaim() {
            send(.toAllRelays(FloorRelayMessage(term: term, channel: channel, .claim)))
        }
        while let (destination, message) = arbiter.nextMessage() {
            switch destination {
            case .everyone:
                send(.toAllMembers(message))
                if leader != nil {
                    send(.toAllRelays(FloorRelayMessage(term: ownTerm, channel: channel, .toAll(message))))
                }
            case .member(let id):
                if let remote = remoteMembers[id] {
                    send(
                        .toRelay(
                            remote.relay,
                            FloorRelayMessage(term: ownTerm, channel: channel, .toMember(remote.number, message))))
                } else {
                    let member = UInt32(truncatingIfNeeded: id.rawValue)
                    if participants.contains(member) { send(.toMember(member, message)) }
                }
            }
        }
    }
}
