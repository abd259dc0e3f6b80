public import TenfourPackets

/// Who has the floor of a channel, and which members break its rules, for the relay's status.
public struct FloorStatus: Hashable, Sendable {
    /// A member of this relay that has broken a rule, or has met a limit.
    public struct Offender: Hashable, Sendable {
        public var member: UInt32
        public var counts: FloorMemberCounts
    }

    /// The SSRC of the talker; nil if the floor is idle.
    public var talker: SSRC?
    public var priority = FloorPriority.normal
    /// The number of requests that wait.
    public var waitingCount = 0
    /// The members with the most offences first, at most eight.
    public var offenders: [Offender] = []
}

extension FloorMemberCounts {
    /// The number of offences of all kinds. A denied request is none.
    public var offenceCount: Int {
        limitedCount + overlongCount + foreignSSRCCount + surplusEmergencyCount + unpermittedPacketCount
    }
}

extension ChannelFloor {
    /// The status of the floor. Takes time for each member.
    public var status: FloorStatus {
        var status = FloorStatus()
        status.talker = arbiter.talker?.ssrc
        status.priority = arbiter.talker?.priority ?? .normal
        status.waitingCount = arbiter.queueCount
        let offenders = members.keys.compactMap { member -> FloorStatus.Offender? in
            guard let counts = arbiter.counts(of: FloorMemberID(UInt64(member))), counts.offenceCount > 0 else {
                return nil
            }
            return FloorStatus.Offender(member: member, counts: counts)
        }
        status.offenders = Array(
            offenders.sorted { ($0.counts.offenceCount, $1.member) > ($1.counts.offenceCount, $0.member) }.prefix(8))
        return status
    }
}
