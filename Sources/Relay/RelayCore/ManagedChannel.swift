internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourManagedChannel

/// The state of a channel with an owner: what the relay keeps of its members, and the members' sessions.
struct ManagedChannel: Sendable {
    var store: ManagedChannelStore
    /// The sessions that have sent a record, by the member's index in the roster.
    private var sessions: [UInt16: Sessions] = [:]
    /// The number of the latest snapshot.
    private(set) var snapshotNumber: UInt64 = 0

    private struct Sessions: Sendable {
        /// The session to which the relay sends the member's records.
        var newest: MemberID
        var count: Int32 = 0
    }

    /// Returns nil for a channel without an owner. `store` is what the channel's file holds; nil without one.
    init?(_ configuration: RelayConfiguration.Channel, _ store: ManagedChannelStore?) {
        guard let owner = configuration.owner else { return nil }
        let channelID = configuration.listenJoin.channelID
        if let store, store.ownerKey == owner, store.channelID == channelID {
            self.store = store
        } else {
            self.store = ManagedChannelStore(ownerKey: owner, channelID: channelID)
        }
    }

    /// The newest session of a member; nil if the member is not here.
    func session(of index: UInt16) -> MemberID? { sessions[index]?.newest }

    mutating func joined(_ member: MemberID, as index: UInt16, at now: Instant) {
        sessions[index] = Sessions(newest: member, count: (sessions[index]?.count ?? 0) + 1)
        store.joined(index, at: now)
    }

    /// Whether another session of the member takes the place of `member`, its newest one.
    func isFollowed(_ member: MemberID, as index: UInt16) -> Bool {
        sessions[index].map { $0.newest == member && $0.count > 1 } ?? false
    }

    /// Takes note of the end of a session. `other` is another session of the same member, if it is followed.
    mutating func left(_ member: MemberID, as index: UInt16, other: MemberID?) {
        guard let here = sessions[index] else { return }
        if here.count > 1, let next = here.newest == member ? other : here.newest {
            sessions[index] = Sessions(newest: next, count: here.count - 1)
        } else {
            sessions[index] = nil
            store.left(index)
        }
    }

    /// Returns what is to be written now; nil if nothing is. `number` is a new random number.
    mutating func snapshot(number: UInt64, at now: Instant) -> ManagedChannelStore? {
        guard let due = store.storeDue, let snapshot = store.snapshot(at: max(due, now)) else { return nil }
        snapshotNumber = number
        return snapshot
    }
}

/// The channels of a relay that have an owner, and the moments at which they have something to be sent or written.
struct ManagedChannels: Sendable {
    private var deadlines = ChannelDeadlines()
    private let channels: Set<ChannelIndex>
    /// The channels whose state is to be written to the disk.
    private var unsaved: [ChannelIndex] = []

    init(_ table: ChannelTable) {
        channels = Set(table.indices.filter { table[$0]?.managed != nil })
        for channel in channels { schedule(channel, at: .start) }
    }

    func contains(_ channel: ChannelIndex) -> Bool { !channels.isEmpty && channels.contains(channel) }

    mutating func schedule(_ channel: ChannelIndex, at moment: Instant) {
        if channels.contains(channel) { deadlines.expect(channel, at: moment) }
    }

    /// Nothing is due before this moment; nil if nothing is due at all.
    var deadline: Instant? { deadlines.next }

    /// Removes and returns the channels that are due. `schedule` follows for those that will be due again.
    mutating func takeDue(at now: Instant) -> [ChannelIndex] { deadlines.takeDue(at: now) }

    mutating func save(_ channel: ChannelIndex) {
        if channels.contains(channel), !unsaved.contains(channel) { unsaved.append(channel) }
    }

    mutating func saveAll() { for channel in channels { save(channel) } }

    mutating func nextUnsaved() -> ChannelIndex? { unsaved.popLast() }
}
