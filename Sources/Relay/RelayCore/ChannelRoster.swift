internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The roster of one channel as its members receive it: the listed talkers, and the changes since the last roster
/// update.
struct ChannelRoster: Sendable {
    /// The ids of the listed members, in the order in which they were listed.
    private(set) var listed: [MemberID] = []
    /// Members whose entries were changed or removed since the last roster update, oldest change first.
    private var changed: [MemberID] = []
    private(set) var revision: UInt32 = 0
    /// The time of the next roster update; nil if nothing has changed.
    private(set) var due: Instant?
    /// The earliest time at which the next roster update may be sent; nil before the first update.
    private var nextSending: Instant?

    /// The shortest time between two roster updates of a channel, so that many members who join at the same time cause
    /// few datagrams. Above 1000 members, updates become rarer, by `ChannelRecordBudget`.
    static let interval = Duration.seconds(1)
    /// The delay of a roster update after the first change, so that it includes the changes that follow shortly.
    private static let delay = Duration.milliseconds(50)

    /// Whether the roster has room for one more member of this relay; members of other relays make room.
    var hasRoom: Bool { listed.count < Roster.maximumListedCount || listed.contains(where: \.isRemote) }

    mutating func list(_ member: MemberID, at now: Instant) {
        listed.append(member)
        entryChanged(of: member, at: now)
    }

    mutating func remove(_ member: MemberID, at now: Instant) {
        listed.removeAll { $0 == member }
        entryChanged(of: member, at: now)
    }

    /// Removes the members of other relays, because nobody is left to whom changes are sent.
    mutating func removeRemotes() { listed.removeAll(where: \.isRemote) }

    mutating func entryChanged(of member: MemberID, at now: Instant) {
        changed.removeAll { $0 == member }
        changed.append(member)
        countChanged(at: now)
    }

    mutating func countChanged(at now: Instant) {
        if due == nil { due = max(now + Self.delay, nextSending ?? now) }
    }

    /// Forgets the changes, because the channel has no members.
    mutating func forgetChanges() {
        changed = []
        due = nil
    }

    /// Starts the next revision. Returns the members whose entries are part of this update, at most
    /// `Roster.maximumEntryCount`. If more members have changed, their entries follow in the next update. `count` is
    /// the number of members that receive the update.
    mutating func removeChanges(for count: Int, at now: Instant) -> [MemberID] {
        let members = Array(changed.prefix(Roster.maximumEntryCount))
        changed.removeFirst(members.count)
        revision &+= 1
        nextSending = now + max(Self.interval, ChannelRecordBudget.interval * count)
        due = nil
        if !changed.isEmpty { countChanged(at: now) }
        return members
    }
}

/// The encrypted information of members about themselves (their names), which the relay cannot read: 112 bytes for each
/// member that has sent an info.
struct InfoTable: Sendable {
    private var infos: [SealedMemberInfo] = []
    private var free: [Int32] = []

    subscript(_ slot: Int32) -> SealedMemberInfo? { slot >= 0 ? infos[Int(slot)] : nil }

    /// Stores `info` in `slot`, replacing an earlier info. If `slot` is negative, stores it in a free slot. Returns the
    /// slot.
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
