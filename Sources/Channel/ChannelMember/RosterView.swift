internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Who else is in the channel, from what the relay tells: changes as they come, and the whole list where one was missed.
///
/// After joining anew, those who were there count as present until a lease has passed: where the relay was restarted they
/// come back one by one. Where nothing was told in that time they are forgotten without a word.
struct RosterView: Sendable {
    /// Whether the relay of this session tells who is there.
    private(set) var isTold = false
    private var revision: UInt32?
    private var otherCount = 0
    /// The member behind each number of the relay; nil for members without info.
    private var ids: [UInt32: UInt64?] = [:]
    private var people: [UInt64: Person] = [:]
    /// People are told who comes and goes from the first list on.
    private(set) var isComplete = false
    private var list: Pieces?
    private(set) var listDue: Instant?
    private var listCount = 0

    private struct Person: Sendable {
        var info: MemberInfo
        var counter: UInt64
        /// For how long it counts as present without being listed.
        var heldUntil: Instant?
    }

    /// A part of the roster that comes in several records.
    private struct Pieces: Sendable {
        var revision: UInt32
        var entries: [UInt32: Roster.Entry.State] = [:]
    }

    /// More than a relay lists: what it tells beyond is passed over.
    private static let maximumCount = 2 * Roster.maximumListedCount

    // MARK: - Sessions

    /// We are in, maybe in a relay that knows nobody yet.
    mutating func begin(lease: Duration, at now: Instant) {
        (isTold, revision, list, listDue, listCount) = (false, nil, nil, nil, 0)
        ids = [:]
        for id in people.keys where people[id]?.heldUntil == nil { people[id]?.heldUntil = now + lease }
    }

    /// When somebody is no longer taken for present.
    var holdDeadline: Instant? { people.values.lazy.compactMap(\.heldUntil).min() }

    // MARK: - Records of the relay

    /// Returns what there is to tell people.
    mutating func apply(
        _ head: Roster.Head, _ entries: [Roster.Entry], besides own: UInt64, under root: MediaRoot, at now: Instant
    ) -> [ChannelEvent] {
        isTold = true
        otherCount = Int(head.otherCount)
        guard revision == head.previous || revision == head.revision else {
            // Something was missed, or all before.
            if listDue == nil { listDue = now }
            return []
        }
        revision = head.revision
        return change(at: now) { view in
            // A member with another number now has not left.
            for entry in entries { view.apply(entry, besides: own, under: root) }
        }
    }

    /// A piece of the whole list.
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

    /// A request for the list was said.
    mutating func listRequested(at now: Instant) {
        listCount = min(listCount + 1, 4)
        listDue = now + .seconds(1 << (listCount - 1))
    }

    mutating func expireHolds(at now: Instant) -> [ChannelEvent] {
        guard revision != nil else {
            // Nothing is known in this session, and in a relay of an earlier version nothing will be: they may still be there.
            (people, isComplete) = ([:], false)
            return []
        }
        return change(at: now) { view in
            for (id, person) in view.people {
                if let end = person.heldUntil, end <= now { view.people[id]?.heldUntil = nil }
            }
        }
    }

    /// Makes changes, and says who has come, gone or changed by them.
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
            // An older info changes nothing.
            if let known = people[sealed.id], known.counter >= sealed.counter { return }
            guard people[sealed.id] != nil || people.count < Self.maximumCount else { return }
            people[sealed.id] = Person(info: info, counter: sealed.counter, heldUntil: people[sealed.id]?.heldUntil)
        }
    }

    // MARK: - For people

    /// Nil where the relay does not tell. `isCounted` says whether we are one of those who are counted and not listed.
    func members(isCounted: Bool) -> ChannelMembers? {
        guard isTold, isComplete else { return nil }
        var members = ChannelMembers()
        members.talkers = people.map { ChannelMember(id: $0.key, info: $0.value.info, isListed: true) }
        members.talkers.sort { ($0.info.joined, $0.id) < ($1.info.joined, $1.id) }
        members.unlistedCount = ids.values.count { $0 == nil }
        members.listenerCount = max(otherCount - (isCounted ? 1 : 0), 0)
        return members
    }
}
