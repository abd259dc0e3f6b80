internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The members of one channel at the other relays of the cluster, and those of them that the roster lists here.
struct RemoteMembers: Sendable {
    private var relays: [AtRelay] = []
    /// The listed members; a nil value is a member without info.
    private var shown: [MemberID: SealedMemberInfo?] = [:]
    private var numbers: [Key: MemberID] = [:]
    private var lastNumber = 0
    /// The number of members, listed and not listed.
    private(set) var count = 0

    private struct AtRelay: Sendable {
        var boot: BootID
        var entries: [Roster.Entry]
        var unlistedCount: UInt32
        /// The time at which the entries are forgotten, because the relay is gone; nil while it is present.
        var heldUntil: Instant?
    }

    private struct Key: Hashable, Sendable {
        var boot: BootID
        var number: UInt32
    }

    subscript(member: MemberID) -> SealedMemberInfo? { shown[member] ?? nil }

    mutating func set(_ entries: [Roster.Entry], unlistedCount: UInt32, of boot: BootID) {
        relays.removeAll { $0.boot == boot }
        relays.append(AtRelay(boot: boot, entries: entries, unlistedCount: unlistedCount))
    }

    /// Keeps the listed members of a relay that is gone until `end`, and counts the others no longer. Returns false if
    /// the relay had no members of the channel.
    mutating func hold(membersOf boot: BootID, until end: Instant) -> Bool {
        guard let index = relays.firstIndex(where: { $0.boot == boot }) else { return false }
        relays[index].heldUntil = end
        return true
    }

    /// The earliest time at which `expire` must be called; nil if all relays are present.
    var deadline: Instant? { relays.lazy.compactMap(\.heldUntil).min() }

    /// Forgets the members of relays that have been gone for a lease. Returns whether there were any.
    mutating func expire(at now: Instant) -> Bool {
        let before = relays.count
        relays.removeAll { $0.heldUntil.map { $0 <= now } ?? false }
        return relays.count < before
    }

    /// A change of the roster.
    enum Change {
        case listed(MemberID)
        case changed(MemberID)
        case removed(MemberID)
    }

    /// Lists up to `room` members whose infos have other ids than those of the relay's own members, `own`. Returns the
    /// changes. A member that is listed by several relays has changed over: it is listed once, at a relay that is
    /// present.
    mutating func merge(besides own: Set<UInt64>, room: Int) -> [Change] {
        var ids = own
        var wanted: [MemberID: SealedMemberInfo?] = [:]
        var order: [MemberID] = []
        var keys: [Key: MemberID] = [:]
        count = 0
        for relay in relays.filter({ $0.heldUntil == nil }) + relays.filter({ $0.heldUntil != nil }) {
            if relay.heldUntil == nil { count += Int(relay.unlistedCount) }
            for entry in relay.entries {
                guard case .here(let info) = entry.state else { continue }
                if let info, !ids.insert(info.id).inserted { continue }
                if relay.heldUntil == nil || order.count < room { count += 1 }
                guard order.count < room else { continue }
                let key = Key(boot: relay.boot, number: entry.number)
                let member = numbers[key] ?? nextNumber()
                keys[key] = member
                wanted.updateValue(info, forKey: member)
                order.append(member)
            }
        }
        defer { (shown, numbers) = (wanted, keys) }
        var changes = shown.keys.filter { wanted[$0] == nil }.sorted { $0.rawValue > $1.rawValue }.map(Change.removed)
        for member in order {
            switch shown[member] {
            case .none: changes.append(.listed(member))
            case .some(let info): if info != wanted[member] { changes.append(.changed(member)) }
            }
        }
        return changes
    }

    private mutating func nextNumber() -> MemberID {
        lastNumber = lastNumber == Int(Int32.max) ? 1 : lastNumber + 1
        return MemberID(-lastNumber)
    }
}

extension MemberID {
    /// Whether this is the number of a member of another relay in the roster.
    var isRemote: Bool { rawValue < 0 }

    /// The number by which members know the entry.
    var rosterNumber: UInt32 { UInt32(bitPattern: rawValue) }
}

extension TalkerIndex {
    /// The index of a talker of another relay among those that have a slot.
    init(remote index: Int) { self.init(-1 - index) }
}

extension Relay {
    /// Notes that the relay's own members of a channel have changed.
    mutating func rosterChanged(in channel: ChannelIndex, at now: Instant) {
        stateChanged(in: channel)
        mergeRoster(of: channel, at: now)
        expectRoster(of: channel)
    }

    /// Lists the members at other relays behind the relay's own.
    mutating func mergeRoster(of channel: ChannelIndex, at now: Instant) {
        guard clusterRequests.boot != nil, let listed = channels[channel]?.roster.listed, memberCount(of: channel) > 0
        else { return }
        let own = listed.filter { !$0.isRemote }
        let ids = Set(own.compactMap { infos[sessions[$0].info]?.id })
        let room = Roster.maximumListedCount - own.count
        for change in channels[channel]?.remoteMembers.merge(besides: ids, room: room) ?? [] {
            switch change {
            case .listed(let member): channels[channel]?.roster.list(member, at: now)
            case .changed(let member): channels[channel]?.roster.entryChanged(of: member, at: now)
            case .removed(let member): channels[channel]?.roster.remove(member, at: now)
            }
        }
        let count = channels[channel]?.remoteMembers.count ?? 0
        if channels[channel]?.status.remoteMemberCount != count {
            channels[channel]?.status.remoteMemberCount = count
            channels[channel]?.roster.countChanged(at: now)
        }
        expectRoster(of: channel)
    }
}
