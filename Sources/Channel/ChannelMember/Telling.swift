public import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Who is there: what we tell the other members, and what the relay tells us of them.
extension Channel {
    /// Who else is in the channel; nil where the relay does not tell, or has not yet.
    public var members: ChannelMembers? { isJoined ? roster.members(isCounted: configuration.role == .listen) : nil }

    /// Our microphone is open or closed now; one who only listens has none.
    public mutating func microphone(isOpen: Bool, at now: Instant) {
        lastInput = now
        guard configuration.role == .talk else { return }
        microphone = isOpen ? .open : .closed
        advance(at: now)
    }

    /// Asks for fifty of the listeners that tell something about themselves, from `position` on: `listeners` is the event that
    /// brings them.
    public mutating func requestListeners(from position: Int, at now: Instant) {
        lastInput = now
        listenerRequest = ListenerRequest(from: max(position, 0), at: now)
        advance(at: now)
    }

    /// Does what is due.
    mutating func tell(at now: Instant) {
        let root = configuration.keys.mediaRoot
        if let end = roster.holdDeadline, end <= now { post(roster.expireHolds(at: now)) }
        guard let session, session.keepalive.hasAnswered, !session.keepalive.isLost else { return }
        if let clock = reading(at: now)?.wall {
            ownInfo.update(microphone, ssrc, clock: clock, under: root, at: now, isInside: true)
        }
        if let due = ownInfo.due, due <= now {
            ownInfo.said(at: now)
            say(.info(ownInfo.sealed))
        }
        if let due = roster.listDue, due <= now {
            roster.listRequested(at: now)
            say(.rosterRequest(.listed, position: 0, receipt: session.receipt))
        }
        askForListeners(receipt: session.receipt, at: now)
    }

    private mutating func askForListeners(receipt: UInt64, at now: Instant) {
        guard var request = listenerRequest, request.due <= now else { return }
        let isAsked = roster.isTold && request.maySend(at: now)
        listenerRequest = isAsked ? request : nil
        if isAsked {
            say(.rosterRequest(.others, position: UInt32(clamping: request.position), receipt: receipt))
        } else {
            events.post(.listeners(request.page(besides: ownInfo.id, under: configuration.keys.mediaRoot)))
        }
    }

    /// When something is due; nil where nothing is.
    var rosterDeadline: Instant? {
        var next = roster.holdDeadline
        guard let session, session.keepalive.hasAnswered, !session.keepalive.isLost else { return next }
        for deadline in [ownInfo.due, roster.listDue, listenerRequest?.due] {
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    mutating func take(_ head: Roster.Head, _ entries: [Roster.Entry], at now: Instant) {
        ownInfo.relayHas(head.counter, at: now)
        post(roster.take(head, entries, besides: ownInfo.id, under: configuration.keys.mediaRoot, at: now))
        advance(at: now)
    }

    mutating func take(page head: Roster.PageHead, _ entries: [Roster.Entry], at now: Instant) {
        switch head.part {
        case .listed:
            let wasComplete = roster.isComplete
            post(roster.receiveList(head, entries, besides: ownInfo.id, under: configuration.keys.mediaRoot, at: now))
            if !wasComplete, let members { events.post(.membersKnown(members)) }
        case .others:
            guard listenerRequest?.take(head, entries) ?? false, let request = listenerRequest else { return }
            listenerRequest = nil
            events.post(.listeners(request.page(besides: ownInfo.id, under: configuration.keys.mediaRoot)))
        }
    }

    private mutating func post(_ news: [ChannelEvent]) { for event in news { events.post(event) } }
}
