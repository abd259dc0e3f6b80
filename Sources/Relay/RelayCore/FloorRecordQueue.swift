internal import TenfourAudioCore
internal import TenfourFloor
internal import TenfourPacing

/// The messages about the floor that a channel's members are to be sent, within the channel's budget.
///
/// For each member at most one answer waits, the newest. Of the state, which all participants are sent in turn, only the
/// newest is kept. So nothing accumulates, however fast the floor changes. While answers and the state wait, each has half of
/// the budget.
struct FloorRecordQueue: Sendable {
    /// The waiting answers, by member.
    private var answers: [UInt32: FloorMessage] = [:]
    /// The members for which an answer waits: the talker, whose permission is repeated or ends; members that have had no
    /// answer recently; all others.
    private var lines = [MemberTurns](repeating: MemberTurns(), count: 3)
    /// The time of the last answer to each member.
    private var answeredAt: [UInt32: Instant] = [:]
    /// The permission that was sent last.
    private var lastGrant: (member: UInt32, revision: FloorRevision)?
    /// The newest state.
    private var state: FloorMessage?
    /// The participants that are sent the newest state in this round.
    private var round = MemberTurns()
    /// Whether the state has changed since the round began: those that have had their turn need another one.
    private var needsRound = false
    private var isTurnOfState = false
    private var budget = CellRateLimit()
    /// The newest state, if the other relays of the cluster have not been sent it.
    private var relayState: FloorRelayMessage?
    private var relayBudget = CellRateLimit()

    /// A member that was answered within this time waits for those that were not.
    private static let recently = Duration.seconds(1)
    private static let relayPrice = CellRateLimit.Price(perSecond: 50, most: 25)

    private var isEmpty: Bool { answers.isEmpty && round.isEmpty && !needsRound }

    /// The time at which the next message may be sent; nil if none waits.
    var nextDeadline: Instant? {
        let members = isEmpty ? nil : budget.moment(for: 1, of: ChannelRecordBudget.price)
        guard relayState != nil else { return members }
        let relays = relayBudget.moment(for: 1, of: Self.relayPrice)
        return members.map { min($0, relays) } ?? relays
    }

    /// Adds an answer in place of the one that waits for the member.
    mutating func answer(_ member: UInt32, _ message: FloorMessage, at now: Instant) {
        let isWaiting = answers.updateValue(message, forKey: member) != nil
        if concernsTalker(member, message) {
            if isWaiting { for index in lines.indices { lines[index].remove(member) } }
            lines[0].append(member)
        } else if !isWaiting {
            let isRecent = answeredAt[member].map { now - $0 < Self.recently } ?? false
            lines[isRecent ? 2 : 1].append(member)
        }
    }

    /// Whether the message is for the talker: the permission that is repeated, or its end.
    private func concernsTalker(_ member: UInt32, _ message: FloorMessage) -> Bool {
        switch message {
        case .granted(_, _, _, let revision, _, _): lastGrant.map { $0 == (member, revision) } ?? false
        case .revoke: lastGrant?.member == member
        default: false
        }
    }

    /// Sets the newest state, which all participants are to be sent.
    mutating func setState(_ message: FloorMessage) {
        state = message
        needsRound = true
    }

    /// Sets the newest state, which the other relays are to be sent.
    mutating func setRelayState(_ message: FloorRelayMessage) { relayState = message }

    /// Takes the state for the other relays, if it is due.
    mutating func nextRelayState(at now: Instant) -> FloorRelayMessage? {
        guard relayState != nil, relayBudget.spend(Self.relayPrice, at: now) else { return nil }
        return relayState.take()
    }

    /// Forgets a member that has left.
    mutating func remove(_ member: UInt32) {
        answeredAt[member] = nil
        guard answers.removeValue(forKey: member) != nil else { return }
        for index in lines.indices { lines[index].remove(member) }
    }

    /// Forgets all messages. What has been spent of the budget stays spent.
    mutating func removeAll() {
        let spent = (budget, relayBudget)
        self = FloorRecordQueue()
        (budget, relayBudget) = spent
    }

    /// Takes the next message that the budget allows.
    mutating func next(in floor: ChannelFloor?, at now: Instant) -> (member: UInt32, message: FloorMessage)? {
        guard !isEmpty, budget.allows(ChannelRecordBudget.price, at: now) else { return nil }
        guard let next = take(in: floor, at: now) else { return nil }
        _ = budget.spend(ChannelRecordBudget.price, at: now)
        return next
    }

    private mutating func take(in floor: ChannelFloor?, at now: Instant) -> (UInt32, FloorMessage)? {
        if isTurnOfState, !isRevoking, let next = takeState(in: floor) {
            isTurnOfState = false
            return next
        }
        isTurnOfState = true
        return takeAnswer(at: now) ?? takeState(in: floor)
    }

    /// Whether the end of the talker's permission waits. It goes before the state: a talker that hears of an idle floor
    /// first would ask again, and never learn why its turn has ended.
    private var isRevoking: Bool {
        guard let member = lastGrant?.member, case .revoke? = answers[member] else { return false }
        return true
    }

    private mutating func takeAnswer(at now: Instant) -> (UInt32, FloorMessage)? {
        for index in lines.indices {
            guard let member = lines[index].removeFirst(), let message = answers.removeValue(forKey: member) else {
                continue
            }
            answeredAt[member] = now
            if case .granted(_, _, _, let revision, _, _) = message { lastGrant = (member, revision) }
            return (member, message)
        }
        return nil
    }

    private mutating func takeState(in floor: ChannelFloor?) -> (UInt32, FloorMessage)? {
        guard let floor, let state else {
            (round, needsRound) = (MemberTurns(), false)
            return nil
        }
        while true {
            while let member = round.removeFirst() { if floor.isParticipant(member) { return (member, state) } }
            guard needsRound else { return nil }
            needsRound = false
            // In the same order as before, so that nobody waits for longer than a round.
            round = MemberTurns(floor.audience.sorted())
        }
    }
}

/// Members in the order of their turns.
private struct MemberTurns: Sendable {
    private var members: [UInt32]
    private var takenCount = 0

    init(_ members: [UInt32] = []) { self.members = members }

    var isEmpty: Bool { takenCount == members.count }

    mutating func append(_ member: UInt32) {
        if takenCount > 64, takenCount > members.count / 2 {
            members.removeFirst(takenCount)
            takenCount = 0
        }
        members.append(member)
    }

    mutating func removeFirst() -> UInt32? {
        guard takenCount < members.count else { return nil }
        takenCount += 1
        let member = members[takenCount - 1]
        if isEmpty {
            members.removeAll(keepingCapacity: true)
            takenCount = 0
        }
        return member
    }

    mutating func remove(_ member: UInt32) {
        members.removeFirst(takenCount)
        takenCount = 0
        members.removeAll { $0 == member }
    }
}
