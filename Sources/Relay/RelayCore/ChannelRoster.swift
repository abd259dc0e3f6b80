internal import TenfourAudioCore
internal import TenfourChannelKeys

/// Who is in one channel, as its members are told: which talkers are listed, and what has changed since the last telling.
struct ChannelRoster: Sendable {
    /// Numbers of members, in the order in which they came.
    private(set) var listed: [MemberID] = []
    /// Those whose entries have changed or gone since they were told last, longest ago first.
    private var changed: [MemberID] = []
    private(set) var revision: UInt32 = 0
    /// When members are to be told; nil while there is nothing new.
    private(set) var due: Instant?
    /// When they may be told again.
    private var nextSending: Instant?

    /// Members are told at most once in this time, so that a crowd that comes in at once makes few datagrams.
    static let interval = Duration.seconds(1)
    /// The same for each member: a channel of thousands is told less often, a thousand records a second in all.
    static let intervalOfEach = Duration.milliseconds(1)
    /// What happens within this time of the first change is told with it.
    private static let delay = Duration.milliseconds(50)

    var hasRoom: Bool { listed.count < Roster.maximumListedCount }

    mutating func list(_ member: MemberID, at now: Instant) {
        listed.append(member)
        entryChanged(of: member, at: now)
    }

    mutating func remove(_ member: MemberID, at now: Instant) {
        listed.removeAll { $0 == member }
        entryChanged(of: member, at: now)
    }

    mutating func entryChanged(of member: MemberID, at now: Instant) {
        changed.removeAll { $0 == member }
        changed.append(member)
        countChanged(at: now)
    }

    mutating func countChanged(at now: Instant) {
        if due == nil { due = max(now + Self.delay, nextSending ?? now) }
    }

    /// Nobody is there to be told.
    mutating func forgetChanges() {
        changed = []
        due = nil
    }

    /// The members whose entries are to be told now to `count` members, as many as a record holds; the others are told later.
    mutating func removeChanges(for count: Int, at now: Instant) -> [MemberID] {
        let members = Array(changed.prefix(Roster.maximumEntryCount))
        changed.removeFirst(members.count)
        revision &+= 1
        nextSending = now + max(Self.interval, Self.intervalOfEach * count)
        due = nil
        if !changed.isEmpty { countChanged(at: now) }
        return members
    }
}

/// What members tell about themselves, sealed: 112 bytes for each who tells something.
struct InfoTable: Sendable {
    private var infos: [SealedMemberInfo] = []
    private var free: [Int32] = []

    subscript(_ slot: Int32) -> SealedMemberInfo? { slot >= 0 ? infos[Int(slot)] : nil }

    /// Keeps `info` in the slot of an earlier info; a negative `slot` stands for none. Returns its slot.
    mutating func put(_ info: SealedMemberInfo, at slot: Int32) -> Int32 {
        if slot >= 0 {
            infos[Int(slot)] = info
            return slot
        }
        if let slot = free.popLast() {
            infos[Int(slot)] = info
            return slot
        }
        infos.append(info)
        return Int32(infos.count - 1)
    }

    mutating func remove(_ slot: Int32) { if slot >= 0 { free.append(slot) } }
}
