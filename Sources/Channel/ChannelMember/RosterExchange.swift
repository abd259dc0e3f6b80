internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Sends our info to the other members, and stores the members that the relay reports.
struct RosterExchange: Sendable {
    private var microphone: MemberInfo.Microphone
    private var ownInfo: OwnMemberInfo
    private var roster = RosterView()
    private var listenerRequest: ListenerRequest?
    private let root: MediaRoot

    /// `id` is a random number that identifies us to the other members.
    init(id: UInt64, _ configuration: ChannelConfiguration) {
        ownInfo = OwnMemberInfo(id: id, name: configuration.name)
        microphone = configuration.role == .talk ? .closed : .none
        root = configuration.keys.mediaRoot
    }

    /// Returns the other members; nil if the relay has not sent the whole list.
    func members(as role: Role) -> ChannelMembers? { roster.members(isCounted: role == .listen) }

    /// The SSRC of the media of the member with the relay's number; nil if it is not listed, or has sent no info.
    func ssrc(of number: UInt32) -> SSRC? { roster.ssrc(of: number) }

    mutating func setMicrophone(isOpen: Bool) { microphone = isOpen ? .open : .closed }

    /// Requests a page of listeners from `position` on.
    mutating func requestListeners(from position: Int, at now: Instant) {
        listenerRequest = ListenerRequest(from: max(position, 0), at: now)
    }

    /// Begins a session. Our info is sent only after the relay's first answer.
    mutating func sessionBegan(lease: Duration, at now: Instant) {
        ownInfo.end()
        roster.begin(lease: lease, at: now)
    }

    /// Makes our info due, because the relay has answered for the first time in this session.
    mutating func sessionAnswered(at now: Instant) { ownInfo.begin(at: now) }

    /// Forgets the other members.
    mutating func leave() { roster = RosterView() }

    /// Posts the departure of members that were not listed within the duration of a lease after we joined again.
    mutating func expire(_ events: inout ChannelEvents, at now: Instant) {
        guard let end = roster.holdDeadline, end <= now else { return }
        for event in roster.expireHolds(at: now) { events.post(event) }
    }

    /// Returns the next record that is due, or nil if there is none. Call it until it returns nil, and only while the
    /// relay answers.
    mutating func nextRecord(
        _ ssrc: SSRC, clock: WallClock?, receipt: UInt64, _ events: inout ChannelEvents, at now: Instant
    ) -> Record? {
        if let clock { ownInfo.update(microphone, ssrc, clock: clock, under: root, at: now, isInside: true) }
        if let due = ownInfo.due, due <= now {
            ownInfo.infoSent(at: now)
            return .info(ownInfo.sealed)
        }
        if let due = roster.listDue, due <= now {
            roster.listRequested(at: now)
            return .rosterRequest(.listed, position: 0, receipt: receipt)
        }
        guard var request = listenerRequest, request.due <= now else { return nil }
        let isAsked = roster.isTold && request.maySend(at: now)
        listenerRequest = isAsked ? request : nil
        if isAsked { return .rosterRequest(.others, position: UInt32(clamping: request.position), receipt: receipt) }
        events.post(.listeners(request.page(besides: ownInfo.id, under: root)))
        return nil
    }

    /// Returns the earliest time at which a record is due, or at which a member that was not listed after we joined
    /// again counts as having left; nil if there is no such time. `isIn` is true while the relay answers. While it is
    /// false, no record is due.
    func deadline(isIn: Bool) -> Instant? {
        var next = roster.holdDeadline
        for deadline in isIn ? [ownInfo.due, roster.listDue, listenerRequest?.due] : [] {
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    /// Handles a roster record: stores the changes, and posts the events for members that have joined, left or changed.
    mutating func changeArrived(
        _ head: Roster.Head, _ entries: [Roster.Entry], _ events: inout ChannelEvents, at now: Instant
    ) {
        ownInfo.relayHas(head.counter, at: now)
        for event in roster.apply(head, entries, besides: ownInfo.id, under: root, at: now) { events.post(event) }
    }

    /// Handles a record of a roster page. A complete list is posted as an event only if `isJoined` is true: the relay
    /// has let us in.
    mutating func pageArrived(
        _ head: Roster.PageHead, _ entries: [Roster.Entry], as role: Role, isJoined: Bool,
        _ events: inout ChannelEvents, at now: Instant
    ) {
        switch head.part {
        case .listed:
            let wasComplete = roster.isComplete
            for event in roster.receiveList(head, entries, besides: ownInfo.id, under: root, at: now) {
                events.post(event)
            }
            if !wasComplete, isJoined, let members = members(as: role) { events.post(.membersKnown(members)) }
        case .others:
            guard listenerRequest?.insert(head, entries) ?? false, let request = listenerRequest else { return }
            listenerRequest = nil
            events.post(.listeners(request.page(besides: ownInfo.id, under: root)))
        }
    }
}
