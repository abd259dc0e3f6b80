internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Tells the other members about us, and keeps what the relay tells us about them.
struct RosterExchange: Sendable {
    private var microphone: MemberInfo.Microphone
    private var ownInfo: OwnMemberInfo
    private var roster = RosterView()
    private var listenerRequest: ListenerRequest?
    private let root: MediaRoot

    /// `id` is drawn; it names us to the other members.
    init(id: UInt64, _ configuration: ChannelConfiguration) {
        ownInfo = OwnMemberInfo(id: id, name: configuration.name)
        microphone = configuration.role == .talk ? .closed : .none
        root = configuration.keys.mediaRoot
    }

    /// The other members; nil if the relay has not told yet.
    func members(as role: Role) -> ChannelMembers? { roster.members(isCounted: role == .listen) }

    mutating func setMicrophone(isOpen: Bool) { microphone = isOpen ? .open : .closed }

    /// Asks for a page of listeners from `position` on.
    mutating func requestListeners(from position: Int, at now: Instant) {
        listenerRequest = ListenerRequest(from: max(position, 0), at: now)
    }

    /// A session has begun; the relay knows nothing of us until its first answer.
    mutating func sessionBegan(lease: Duration, at now: Instant) {
        ownInfo.end()
        roster.begin(lease: lease, at: now)
    }

    /// The relay has answered for the first time in this session.
    mutating func sessionAnswered(at now: Instant) { ownInfo.begin(at: now) }

    /// Forgets the other members.
    mutating func leave() { roster = RosterView() }

    /// Posts members whose lease has passed.
    mutating func expire(_ events: inout ChannelEvents, at now: Instant) {
        guard let end = roster.holdDeadline, end <= now else { return }
        for event in roster.expireHolds(at: now) { events.post(event) }
    }

    /// Returns the record that is due while we are in; nil if there is none. Call it until it returns nil.
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

    /// When a lease passes, or while `isIn` a record is due; nil if nothing is.
    func deadline(isIn: Bool) -> Instant? {
        var next = roster.holdDeadline
        for deadline in isIn ? [ownInfo.due, roster.listDue, listenerRequest?.due] : [] {
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    /// A change of the roster has come.
    mutating func changeArrived(
        _ head: Roster.Head, _ entries: [Roster.Entry], _ events: inout ChannelEvents, at now: Instant
    ) {
        ownInfo.relayHas(head.counter, at: now)
        for event in roster.apply(head, entries, besides: ownInfo.id, under: root, at: now) { events.post(event) }
    }

    /// A page of the roster has come. `isJoined` if the members may be told to people.
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
