internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// The other members of the channel, as the relay reports them: changes as they happen, and the whole list after a
/// missed change.
///
/// After we join again, the members of the previous session count as present for the duration of a lease, because after
/// a restart of the relay all members join again, one by one. If the relay sends no roster in that time, these members
/// are forgotten without events.
struct RosterView: Sendable {
    /// Whether the relay has sent a roster in this session.
    private(set) var isTold = false
    private var revision: UInt32?
    private var otherCount = 0
    /// The id of each member, by the relay's number for the member; nil for members without info.
    private var ids: [UInt32: UInt64?] = [:]
    private var people: [UInt64: Person] = [:]
    /// Whether a whole list has been received. Members that join or leave are reported only from then on.
    private(set) var isComplete = false
    private var list: Pieces?
    private(set) var listDue: Instant?
    private var listCount = 0

    private struct Person: Sendable {
        var info: MemberInfo
        var counter: UInt64
        /// The time until which the member counts as present without being listed; nil if it is listed.
        var heldUntil: Instant?
    }

    /// The records of the whole list that have arrived so far.
    private struct Pieces: Sendable {
        var revision: UInt32
        var entries: [UInt32: Roster.Entry.State] = [:]
    }

    /// The maximum number of members stored, more than a relay lists; further members are ignored.
    private static let maximumCount = 2 * Roster.maximumListedCount

    // MARK: - Sessions

    /// Begins a session. The relay may not know the other members yet, so the members of the previous session count as
    /// present for one more lease.
    mutating func begin(lease: Duration, at now: Instant) {
        (isTold, revision, list, listDue, listCount) = (false, nil, nil, nil, 0)
        ids = [:]
        for id in people.keys where people[id]?.heldUntil == nil { people[id]?.heldUntil = now + lease }
    }

    /// The earliest time at which a member that is not listed stops counting as present; nil if there is none.
    var holdDeadline: Instant? { people.values.lazy.compactMap(\.heldUntil).min() }

    // MARK: - Records of the relay

    /// Applies a roster record. Returns the events for members that have joined, left or changed.
    mutating func apply(
        _ head: Roster.Head, _ entries: [Roster.Entry], besides own: UInt64, under root: MediaRoot, at now: Instant
    ) -> [ChannelEvent] {
        isTold = true
        otherCount = Int(head.otherCount)
        guard revision == head.previous || revision == head.revision else {
            // Requests the whole list, because a change was missed, or because this is the first change.
            if listDue == nil { listDue = now }
            return []
        }
        revision = head.revision
        return change(at: now) { view in
            // Applies all entries before members are compared, so that a member with a new number does not count as
            // left.
            for entry in entries { view.apply(entry, besides: own, under: root) }
        }
    }

    /// Stores a record of the whole list. Once the list is complete, returns the events for members that have joined,
    /// left or changed.
    mutating func receiveList(
        _ head: Roster.PageHead, _ entries: [Roster.Entry], besides own: UInt64, under root: MediaRoot, at now: Instant
    ) -> [ChannelEvent] {
        guard listCount > 0, head.total <= Self.maximumCount else { return [] }
        var pieces = list ?? Pieces(revision: head.revision)
        if pieces.revision != head.revision { pieces = Pieces(revision: head.revision) }
        for entry in entries { pieces.entries[entry.number] = entry.state }
        list = pieces
        guard pieces.entries.count >= head.total else { return [] }
        (list, listDue, listCount) = (nil, nil, 0)
        isTold = true
        revision = head.revision
        let events = change(at: now) { view in
            view.ids = [:]
            for (number, state) in pieces.entries {
                view.apply(Roster.Entry(number: number, state), besides: own, under: root)
            }
        }
        isComplete = true
        return events
    }

    /// Records that the whole list was requested. The request is repeated after 1, 2, 4, 8, 8 … s.
    mutating func listRequested(at now: Instant) {
        listCount = min(listCount + 1, 4)
        listDue = now + .seconds(1 << (listCount - 1))
    }

    mutating func expireHolds(at now: Instant) -> [ChannelEvent] {
        guard revision != nil else {
            // Forgets the members without events, because the relay has sent no roster in this session, and the members
            // may still be in the channel. Older relays never send a roster.
            (people, isComplete) = ([:], false)
            return []
        }
        return change(at: now) { view in
            for (id, person) in view.people {
                if let end = person.heldUntil, end <= now { view.people[id]?.heldUntil = nil }
            }
        }
    }

    /// Calls `body`, which changes the list, and returns the events for members that have joined, left or changed.
    private mutating func change(at now: Instant, _ body: (inout Self) -> Void) -> [ChannelEvent] {
        let before = people
        body(&self)
        let listed = Set(ids.values.compactMap { $0 })
        for id in listed { people[id]?.heldUntil = nil }
        var events: [ChannelEvent] = []
        for (id, person) in people.sorted(by: { $0.key < $1.key }) {
            let member = ChannelMember(id: id, info: person.info, isListed: true)
            if !listed.contains(id), person.heldUntil == nil {
                people[id] = nil
                if before[id] != nil { events.append(.memberLeft(member)) }
            } else if let known = before[id] {
                if known.info != person.info { events.append(.memberChanged(member)) }
            } else {
                events.append(.memberJoined(member))
            }
        }
        return isComplete ? events : []
    }

    private mutating func apply(_ entry: Roster.Entry, besides own: UInt64, under root: MediaRoot) {
        switch entry.state {
        case .gone: ids[entry.number] = nil
        case .here(let sealed):
            guard ids[entry.number] != nil || ids.count < Self.maximumCount else { return }
            guard let sealed, let info = sealed.opened(under: root) else {
                ids[entry.number] = .some(nil)
                return
            }
            ids[entry.number] = sealed.id == own ? nil : .some(sealed.id)
            guard sealed.id != own else { return }
            // Ignores an info that is not newer than the stored info.
            if let known = people[sealed.id], known.counter >= sealed.counter { return }
            guard people[sealed.id] != nil || people.count < Self.maximumCount else { return }
            people[sealed.id] = Person(info: info, counter: sealed.counter, heldUntil: people[sealed.id]?.heldUntil)
        }
    }

    // MARK: - Results

    /// The SSRC of the media of a member, by the relay's number; nil if it is not listed, or has sent no info.
    func ssrc(of number: UInt32) -> SSRC? {
        ids[number].flatMap { $0 }.flatMap { people[$0]?.info.ssrc }
    }

    /// Returns the other members; nil until the relay has sent the whole list. `isCounted` is true if we are one of the
    /// members that are counted and not listed.
    func members(isCounted: Bool) -> ChannelMembers? {
        guard isTold, isComplete else { return nil }
        var members = ChannelMembers()
        members.talkers = people.map { ChannelMember(id: $0.key, info: $0.value.info, isListed: true) }
        members.talkers.sort { ($0.info.joined, $0.id) < ($1.info.joined, $1.id) }
        members.unidentifiedCount = ids.values.count { $0 == nil }
        members.listenerCount = max(otherCount - (isCounted ? 1 : 0), 0)
        return members
    }
}
