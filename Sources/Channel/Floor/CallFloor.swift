public import TenfourAudioCore
internal import TenfourPacing
public import TenfourPackets

/// The floor of a call between two stations, as one of them sees it (Protocol/10-floor.md): the station's participant,
/// and the arbiter if this station arbitrates.
///
/// The station that answered the call arbitrates. If both called, the one with the lower SSRC does. A partner that knows
/// no floor control counts as talking while it is heard. Opens no socket, reads no clock. After each input, take
/// messages until nil, then events until nil, then arm one timer for `nextDeadline`.
public struct CallFloor: Sendable {
    /// How the call began.
    public enum Role: Hashable, Sendable {
        /// This station answered the call.
        case answered
        /// This station called, and the other one answered.
        case called
        /// Both stations called.
        case bothCalled
    }

    public let role: Role
    public private(set) var participant: FloorParticipant
    /// The SSRC of the other station; nil before it is heard.
    public private(set) var partner: SSRC?
    private let configuration: FloorArbiter.Configuration
    private var arbiter: FloorArbiter?
    private var partnerHeard = Instant.start
    /// Whether the partner has sent a message about the floor.
    private var partnerKnowsFloor = false
    private var limit = CellRateLimit()
    private var outgoing = FloorOutbox<FloorMessage>()
    private var events = FloorOutbox<FloorEvent>()

    private static let ownID = FloorMemberID(1)
    private static let partnerID = FloorMemberID(2)
    /// Another SSRC takes the partner's place only after this time without the partner.
    private static let partnerEnd = Duration.seconds(2)

    /// Begins with an unknown partner. `longestTalk` holds if this station arbitrates.
    public init(ssrc: SSRC, as role: Role, longestTalk: Duration? = .seconds(180), at now: Instant) {
        self.role = role
        configuration = FloorArbiter.Configuration(longestTalk: longestTalk)
        participant = FloorParticipant(ssrc: ssrc)
        begin(at: now)
    }

    /// Whether this station arbitrates.
    var arbitrates: Bool { arbiter != nil }

    // MARK: - Input

    /// The station's SSRC has changed.
    public mutating func setSSRC(_ ssrc: SSRC, at now: Instant) {
        guard ssrc != participant.ssrc else { return }
        participant.ssrc = ssrc
        if role == .bothCalled { begin(at: now) }
    }

    /// Takes a message that came from the station `ssrc`. More than 30/s are ignored.
    public mutating func receive(_ message: FloorMessage, from ssrc: SSRC, at now: Instant) {
        guard ssrc != participant.ssrc, limit.spend(FloorTiming.messages, at: now) else { return }
        meet(ssrc, knowsFloor: true, at: now)
        guard ssrc == partner else { return }
        partnerHeard = now
        partnerKnowsFloor = true
        if message.isFromParticipant {
            guard message.ssrc == ssrc else { return }
            arbiter?.receive(message, from: Self.partnerID, at: now)
        } else if arbiter == nil {
            participant.receive(message, at: now)
        }
        settle(at: now)
    }

    /// Takes note of a packet of the other station.
    public mutating func heardMedia(of ssrc: SSRC, at now: Instant) {
        guard ssrc != participant.ssrc else { return }
        meet(ssrc, knowsFloor: false, at: now)
        guard ssrc == partner else { return }
        partnerHeard = now
        participant.heardMedia(at: now)
        guard arbiter != nil else { return }
        _ = arbiter?.heardMedia(of: ssrc, from: Self.partnerID, at: now)
        settle(at: now)
    }

    /// The other station has left. If it had the floor, the floor is idle.
    public mutating func left(_ ssrc: SSRC, at now: Instant) {
        guard ssrc == partner else { return }
        partner = nil
        arbiter?.leave(Self.partnerID, at: now)
        if arbiter == nil || role == .bothCalled { begin(at: now) } else { settle(at: now) }
        partnerKnowsFloor = false
    }

    /// The key goes down, as `FloorParticipant.press`.
    public mutating func press(_ priority: FloorPriority = .normal, waits: Bool = false, at now: Instant) {
        participant.press(priority, waits: waits, at: now)
        settle(at: now)
    }

    /// The key goes up, as `FloorParticipant.release`.
    public mutating func release(at now: Instant) {
        participant.release(at: now)
        settle(at: now)
    }

    /// The time of the next timer; nil if none runs.
    public var nextDeadline: Instant? {
        guard let first = participant.nextDeadline else { return arbiter?.nextDeadline }
        guard let second = arbiter?.nextDeadline else { return first }
        return min(first, second)
    }

    /// Does what is due. An early or late call does no harm.
    public mutating func timeElapsed(at now: Instant) {
        participant.timeElapsed(at: now)
        arbiter?.timeElapsed(at: now)
        settle(at: now)
    }

    // MARK: - Output

    /// The next message to the other station.
    public mutating func nextMessage() -> FloorMessage? { outgoing.take() }

    /// The next event for the user.
    public mutating func nextEvent() -> FloorEvent? { events.take() }

    // MARK: - The two parts

    /// The other station is heard, for the first time or under another SSRC. A third station without floor control does
    /// not take the place of a partner with it.
    private mutating func meet(_ ssrc: SSRC, knowsFloor: Bool, at now: Instant) {
        guard ssrc != partner else { return }
        let isGone = now - partnerHeard >= Self.partnerEnd
        guard partner == nil || isGone && (knowsFloor || !partnerKnowsFloor) else { return }
        defer { partnerKnowsFloor = knowsFloor }
        if partner != nil { arbiter?.leave(Self.partnerID, at: now) }
        partner = ssrc
        partnerHeard = now
        if role == .answered {
            arbiter?.join(Self.partnerID, at: now)
            settle(at: now)
        } else {
            begin(at: now)
        }
    }

    private var shouldArbitrate: Bool {
        switch role {
        case .answered: true
        case .called: false
        case .bothCalled: partner.map { participant.ssrc.rawValue < $0.rawValue } ?? false
        }
    }

    /// Begins with the arbiter that the call has now. `partnerKnowsFloor` is still that of the partner until now.
    private mutating func begin(at now: Instant) {
        let wasTalking = participant.state == .permission
        let wasAlone = participant.otherEnd == .unaware || arbiter != nil && !partnerKnowsFloor
        if shouldArbitrate {
            var arbiter = FloorArbiter(configuration)
            arbiter.join(Self.ownID, at: now)
            if partner != nil { arbiter.join(Self.partnerID, at: now) }
            self.arbiter = arbiter
            participant.begin(at: now)
        } else {
            arbiter = nil
            if wasAlone { participant.continueAlone(at: now) } else { participant.begin(at: now) }
        }
        settle(at: now, isTalking: wasTalking)
        if wasTalking, participant.state != .permission { events.append(.interrupted) }
    }

    /// Passes messages between the participant, the arbiter and the other station until none are left.
    /// `isTalking`: the station has been granted the floor before, and its user need not hear of it again.
    private mutating func settle(at now: Instant, isTalking: Bool = false) {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            while let message = participant.nextMessage() {
                isQuiet = false
                if arbiter == nil {
                    outgoing.append(message)
                } else {
                    arbiter?.receive(message, from: Self.ownID, at: now)
                }
            }
            while let (destination, message) = arbiter?.nextMessage() {
                isQuiet = false
                if destination != .member(Self.partnerID) { participant.receive(message, at: now) }
                if destination != .member(Self.ownID), partner != nil { outgoing.append(message) }
            }
        }
        while let event = participant.nextEvent() {
            // Nobody is there yet, so that nothing is known about the other end.
            if event == .unaware, partner == nil { continue }
            if case .granted = event, isTalking { continue }
            events.append(naming(event))
        }
    }

    /// A partner that knows no floor control is the one who talks when the station denies itself the floor.
    private func naming(_ event: FloorEvent) -> FloorEvent {
        guard case .denied(.anotherTalks, nil, let pause) = event, participant.otherEnd == .unaware else {
            return event
        }
        return .denied(.anotherTalks, talker: partner, retryAfter: pause)
    }
}
