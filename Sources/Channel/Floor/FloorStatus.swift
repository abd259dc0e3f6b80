public import TenfourPackets

/// Who has the floor of a channel, and which members break its rules, for the relay's status.
public struct FloorStatus: Hashable, Sendable {
    /// A member that has broken a rule, or has met a limit.
    public struct Offender: Hashable, Sendable {
        /// The number of the member at its relay.
        public var member: UInt32
        /// Whether it is a member of another relay of the cluster.
        public var isAtOtherRelay = false
        public var counts: FloorMemberCounts

        public init(member: UInt32, isAtOtherRelay: Bool = false, counts: FloorMemberCounts) {
            self.member = member
            self.isAtOtherRelay = isAtOtherRelay
            self.counts = counts
        }
    }

    /// The relay that arbitrates.
    public enum Arbiter: Hashable, Sendable {
        case thisRelay
        /// Another relay of the cluster. The requests that wait are known there only.
        case otherRelay
        /// The cluster has not elected one yet.
        case nobody
    }

    public var arbiter = Arbiter.thisRelay

    /// The SSRC of the talker; nil if the floor is idle.
    public var talker: SSRC?
    public var priority = FloorPriority.normal
    /// The number of requests that wait.
    public var waitingCount = 0
    /// The counts of all members since the floor was first requested, of those that have left, too.
    public var totals = FloorMemberCounts()
    /// The members with the most offences first, at most eight.
    public var offenders: [Offender] = []

    public init() {}
}

extension FloorMemberCounts {
    /// The number of offences of all kinds. A denied request is none.
    var offenceCount: Int {
        limitedCount + overlongCount + foreignSSRCCount + surplusEmergencyCount + unpermittedPacketCount
    }
}

extension ChannelFloor {
    /// The status of the floor. Takes time for each member.
    public var status: FloorStatus {
        var status = FloorStatus()
        if arbiter.isActive {
            status.talker = arbiter.talker?.ssrc
            status.priority = arbiter.talker?.priority ?? .normal
        } else {
            status.arbiter = leader?.role == FloorLeader.Role.none ? .nobody : .otherRelay
            status.talker = remoteTalker?.ssrc
            status.priority = remoteTalker?.priority ?? .normal
        }
        status.waitingCount = arbiter.queueCount
        let members = localCounts + remoteCounts
        status.totals = members.reduce(departed + arbiter.departed) { $0 + $1.counts }
        let offenders = members.filter { $0.counts.offenceCount > 0 }
        status.offenders = Array(
            offenders.sorted { ($0.counts.offenceCount, $1.member) > ($1.counts.offenceCount, $0.member) }.prefix(8))
        return status
    }

    private var localCounts: [FloorStatus.Offender] {
        members.map { member, local in
            let counts = arbiter.counts(of: FloorMemberID(UInt64(member))) ?? FloorMemberCounts()
            return FloorStatus.Offender(member: member, counts: counts + local.counts)
        }
    }

    private var remoteCounts: [FloorStatus.Offender] {
        remoteMembers.compactMap { id, remote in
            arbiter.counts(of: id).map {
                FloorStatus.Offender(member: remote.number, isAtOtherRelay: true, counts: $0)
            }
        }
    }
}
