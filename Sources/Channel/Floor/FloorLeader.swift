internal import TenfourAudioCore

/// Decides which relay of a cluster arbitrates for a channel, as one relay sees it (Protocol/10-floor.md, "Cluster").
///
/// Opens no socket, reads no clock. After each input, take claims until nil, then changes until nil, then arm one timer
/// for `nextDeadline`. Relays have their boot ids.
struct FloorLeader: Sendable {
    enum Role: Hashable, Sendable {
        /// No relay arbitrates.
        case none
        /// This relay arbitrates.
        case leads(term: UInt32)
        /// That relay arbitrates, and this one passes messages to it.
        case follows(UInt128, term: UInt32)
    }

    /// A change of the arbiter.
    enum Change: Hashable, Sendable {
        /// This relay begins to arbitrate. `afterAnother`: another has done so before.
        case leads(term: UInt32, afterAnother: Bool)
        /// This relay goes on, in a higher term, because another one has claimed the same term.
        case raisesTerm(UInt32)
        /// This relay ceases to arbitrate.
        case stepsDown
        /// Another relay arbitrates.
        case follows(UInt128, term: UInt32)
    }

    private(set) var role = Role.none
    private let own: UInt128
    private var hasMembers = false
    /// The present relays that have members of the channel.
    private var others: Set<UInt128> = []
    /// The highest term heard.
    private var highestTerm: UInt32 = 0
    /// The time since which no candidate's claim has come.
    private var waitingSince: Instant?
    private var nextClaim: Instant?
    private var lastAnswer: Instant?
    private var claims = FloorOutbox<UInt32>()
    private var changes = FloorOutbox<Change>()

    init(own: UInt128) { self.own = own }

    /// The next term to be claimed, in a CLAIM to all relays.
    mutating func takeClaim() -> UInt32? { claims.take() }

    mutating func takeChange() -> Change? { changes.take() }

    /// Takes note of the relays that have members of the channel: this one, and the present ones of `others`. Returns
    /// whether some of these are new.
    @discardableResult
    mutating func update(hasMembers: Bool, others: Set<UInt128>, at now: Instant) -> Bool {
        let hasNewcomers = !others.isSubset(of: self.others)
        self.hasMembers = hasMembers
        self.others = others
        switch role {
        case .leads where !hasMembers: stepDown()
        case .leads(let term) where hasNewcomers:
            // A relay that has just got members would otherwise claim the channel itself.
            claims.append(term)
            nextClaim = now + FloorTiming.newcomerClaim
        case .follows(let leader, _) where !others.contains(leader):
            role = .none
            waitingSince = now
        case .none, .leads, .follows: break
        }
        elect(at: now)
        return hasNewcomers
    }

    /// Takes a claim of another relay.
    mutating func receive(term: UInt32, from relay: UInt128, at now: Instant) {
        guard relay != own, term > 0, others.contains(relay) else { return }
        highestTerm = max(highestTerm, term)
        switch role {
        case .none:
            // Members have heard decisions of a higher term, and would ignore those of this one.
            if term == highestTerm { follow(relay, term, at: now) }
        case .follows(let leader, let present):
            if term > present {
                follow(relay, term, at: now)
            } else if leader == relay, term == present {
                waitingSince = now
            }
        case .leads(let present):
            if term > present {
                stepDown()
                follow(relay, term, at: now)
            } else if lastAnswer.map({ now - $0 >= FloorTiming.claimAnswer }) ?? true {
                lastAnswer = now
                if term == present, own < relay { raiseTerm(at: now) } else { claims.append(present) }
            }
        }
    }

    /// The time of the next timer; nil if none runs.
    var nextDeadline: Instant? {
        switch role {
        case .leads: nextClaim
        case .none, .follows: hasMembers ? election : nil
        }
    }

    /// Does what is due. An early or late call does no harm.
    mutating func timeElapsed(at now: Instant) {
        if case .leads(let term) = role, let due = nextClaim, due <= now {
            nextClaim = now + FloorTiming.claimInterval
            claims.append(term)
        }
        elect(at: now)
    }

    /// The time at which this relay claims the channel if no claim comes.
    private var election: Instant? {
        guard let waitingSince else { return nil }
        let wait = FloorTiming.claimWait * others.count { $0 < own }
        if case .follows = role { return waitingSince + FloorTiming.silentLeader + wait }
        // A leader that works answers a relay that has just begun.
        return waitingSince + (others.isEmpty ? .zero : FloorTiming.firstClaim) + wait
    }

    private mutating func elect(at now: Instant) {
        guard hasMembers else {
            waitingSince = nil
            return
        }
        if case .leads = role { return }
        if waitingSince == nil { waitingSince = now }
        if let due = election, due <= now { lead(at: now) }
    }

    private mutating func lead(at now: Instant) {
        let isFirst = highestTerm == 0
        claimNextTerm(at: now)
        changes.append(.leads(term: highestTerm, afterAnother: !isFirst))
    }

    private mutating func raiseTerm(at now: Instant) {
        claimNextTerm(at: now)
        changes.append(.raisesTerm(highestTerm))
    }

    private mutating func claimNextTerm(at now: Instant) {
        highestTerm = highestTerm == .max ? .max : highestTerm + 1
        role = .leads(term: highestTerm)
        waitingSince = nil
        nextClaim = now + FloorTiming.claimInterval
        claims.append(highestTerm)
    }

    private mutating func stepDown() {
        role = .none
        nextClaim = nil
        changes.append(.stepsDown)
    }

    private mutating func follow(_ relay: UInt128, _ term: UInt32, at now: Instant) {
        role = .follows(relay, term: term)
        waitingSince = now
        changes.append(.follows(relay, term: term))
    }
}
