public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourSession

/// One station's calls, of which there is one at a time.
///
/// Opens no socket and reads no clock. After each input, take datagrams until nil, then events until nil, then sleep
/// until `nextDeadline`. A stranger who only claims an address makes nothing ring, and gets no more bytes than it sent.
/// Two who call each other at once are one call: that with the lower number.
public struct StationCall: Sendable {
    /// Whether incoming calls are taken, and how.
    public enum Answering: Hashable, Sendable {
        /// The person is asked, except about callers with these names in small letters, whose calls are accepted at
        /// once. A name proves nothing: anybody can send any.
        case byPerson(acceptingAtOnce: Set<String> = [])
        /// Calls from callers with these names in small letters are accepted at once, and no others are taken, because
        /// nobody is there to be asked.
        case onlyFrom(Set<String>)
        /// Each call is accepted at once.
        case automatic
        case never
        /// No call is taken, because the station talks without one.
        case busy
    }

    public var answering: Answering
    /// The station's own name, at most 64 bytes of UTF-8.
    public var name: String

    var state = State.idle
    let challenge: AddressChallenge
    private var generator: CSPRNG
    /// The one whose call the person last declined, which may not ring again so soon.
    var declined: (address: IPAddress, until: Instant)?
    /// The last call that is over.
    var ended: EndedCall?
    /// The last caller that was told that this station is busy, whose repeated invitations are one call.
    var turnedAway: CallPeer?
    var outbox: [(to: Endpoint, message: CallMessage)] = []
    var events: [CallEvent] = []

    enum State: Sendable {
        case idle
        /// We have called, and nobody has answered yet.
        case calling(CallPeer)
        /// We have called, and the other end's person is being asked.
        case waiting(CallPeer)
        /// We are called, and our person is being asked.
        case ringing(CallPeer)
        /// Our person wants to talk, and the caller has not confirmed.
        case accepting(CallPeer)
        case connected(CallPeer)
        /// We have hung up, and say so a few times.
        case ending(CallPeer, timesLeft: Int)
    }

    static let interval = Duration.milliseconds(250)
    /// The time between two invitations while the other end rings.
    static let ringInterval = Duration.seconds(1)
    /// The time after which a station that does not answer is taken for one that knows no calls.
    static let plainTime = Duration.seconds(2)
    /// The time after which a silent other end counts as lost.
    static let patience = Duration.seconds(5)
    static let ringTime = Duration.seconds(60)
    static let declinedTime = Duration.seconds(30)
    /// The time for which what comes about a call that is over is answered.
    static let endedTime = Duration.seconds(5)
    /// The time between two messages that show that both ends of a call are there.
    static let keepaliveInterval = Duration.seconds(2)
    /// The time after which a silent other end of a call is asked more often.
    static let silenceTime = Duration.seconds(4)
    /// The time after which the silent other end of a call is lost.
    static let lossTime = Duration.seconds(10)
    /// The time after the connection in which an invitation of the same station is taken for a late one.
    static let settlingTime = Duration.seconds(2)
    private static let endCount = 3
    static let maximumOutboxCount = 8
    static let maximumEventCount = 16

    /// `generator` must be unpredictable: the system's generator, outside tests.
    public init(name: String, answering: Answering, using generator: inout some RandomNumberGenerator) {
        self.name = name
        self.answering = answering
        challenge = AddressChallenge(using: &generator)
        self.generator = CSPRNG(using: &generator)
    }

    /// The endpoint of the call that is connected; nil if there is none.
    public var partner: Endpoint? { if case .connected(let peer) = state { peer.endpoint } else { nil } }

    /// Whether this station has answered the call that is connected; nil if there is none.
    public var hasAnswered: Bool? { if case .connected(let peer) = state { peer.hasCalled } else { nil } }

    /// Whether a call can begin.
    public var isIdle: Bool {
        switch state {
        case .idle, .ending: true
        default: false
        }
    }

    /// Calls the station at an endpoint that a person chose, or accepts its call if it rings. Returns false during another
    /// call.
    ///
    /// - `otherEndpoints`: further endpoints of the same station, from which its own call may come at the same time.
    /// - `knowsCalls`: whether the station has announced that it understands calls. If so, silence means that it is not
    ///   reachable; otherwise the event is `plain`.
    public mutating func call(
        _ endpoint: Endpoint, otherEndpoints: [Endpoint] = [], knowsCalls: Bool = false, at now: Instant
    ) -> Bool {
        // The person may have chosen a station that begins to ring just then.
        if case .ringing(let peer) = state, ([endpoint] + otherEndpoints).contains(peer.endpoint) {
            accept(at: now)
            return true
        }
        guard isIdle else { return false }
        let number = UInt64.random(in: 1 ... .max, using: &generator)
        let peer = CallPeer(
            endpoint: endpoint, otherEndpoints: otherEndpoints, caller: number, knowsCalls: knowsCalls, began: now,
            heard: now, due: now + Self.interval)
        state = .calling(peer)
        send(.invitation, to: peer)
        return true
    }

    /// The person wants to talk to the one who calls. Does nothing if nobody does.
    public mutating func accept(at now: Instant) {
        guard case .ringing(var peer) = state else { return }
        peer.heard = now
        peer.due = now + Self.interval
        state = .accepting(peer)
        send(.acceptance, to: peer)
    }

    /// The person does not want to talk to the one who calls. Does nothing if nobody does.
    public mutating func decline(at now: Instant) {
        guard case .ringing(let peer) = state else { return }
        declined = (peer.endpoint.address, now + Self.declinedTime)
        remember(peer, .declined, at: now)
        send(.refusal, .declined, to: peer)
        state = .idle
    }

    /// Ends the call, or takes the invitation back. Does nothing without a call.
    public mutating func hangUp(at now: Instant) {
        switch state {
        case .ringing: decline(at: now)
        case .calling(let peer), .waiting(let peer), .accepting(let peer), .connected(let peer):
            sayEnd(of: peer, at: now)
        case .idle, .ending: break
        }
    }

    /// Media or a report has come from `sender`, which shows that the partner of a call is there.
    public mutating func heardMedia(from sender: Endpoint, at now: Instant) {
        guard case .connected(var peer) = state, peer.endpoint.address == sender.address else { return }
        peer.heard = now
        state = .connected(peer)
    }

    /// The time at which `timeElapsed` must be called; nil if nothing is due.
    public var nextDeadline: Instant? {
        switch state {
        case .idle: nil
        // The callee asks, and the caller answers.
        case .connected(let peer):
            peer.hasCalled ? min(peer.due, peer.heard + Self.lossTime) : peer.heard + Self.lossTime
        case .calling(let peer), .accepting(let peer), .ending(let peer, _): peer.due
        case .waiting(let peer): min(peer.due, peer.heard + Self.patience)
        case .ringing(let peer): min(peer.began + Self.ringTime, peer.heard + Self.patience)
        }
    }

    /// Appends the next datagram, 88 bytes, and returns where it goes; nil if there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        guard let next = outbox.first, buffer.freeCapacity >= CallMessage.byteCount else { return nil }
        outbox.removeFirst()
        buffer.append(next.message.bytes.span)
        return next.to
    }

    public mutating func nextEvent() -> CallEvent? { events.isEmpty ? nil : events.removeFirst() }
}

// MARK: Time

extension StationCall {
    /// Must be called at `nextDeadline`; an earlier call does nothing.
    public mutating func timeElapsed(at now: Instant) {
        guard let deadline = nextDeadline, deadline <= now else { return }
        switch state {
        case .calling(let peer) where !peer.knowsCalls && now - peer.began >= Self.plainTime:
            state = .idle
            report(.plain(peer.endpoint))
        case .calling(let peer) where now - peer.heard >= Self.patience,
            .waiting(let peer) where now - peer.heard >= Self.patience:
            finish(.lost)
        case .calling(var peer):
            peer.due = now + Self.interval
            state = .calling(peer)
            send(.invitation, to: peer)
        case .waiting(var peer):
            peer.due = now + (peer.hasRung ? Self.ringInterval : Self.interval)
            state = .waiting(peer)
            send(.invitation, to: peer)
        case .ringing(let peer) where now - peer.began >= Self.ringTime:
            remember(peer, .notAnswered, at: now)
            send(.refusal, .notAnswered, to: peer)
            finish(.missed(name: peer.name))
        case .ringing(let peer):
            finish(.missed(name: peer.name))
        case .accepting(let peer) where now - peer.heard >= Self.patience,
            .connected(let peer) where now - peer.heard >= Self.lossTime:
            // The other end may hear this one all the same.
            sayEnd(of: peer, at: now)
            report(.ended(.lost))
        case .accepting(var peer):
            send(.acceptance, to: peer)
            peer.due = now + Self.interval
            state = .accepting(peer)
        case .ending(var peer, let left):
            send(.end, to: peer)
            peer.due = now + Self.interval
            state = left > 1 ? .ending(peer, timesLeft: left - 1) : .idle
        case .connected(var peer):
            // The caller answers with a confirmation, so that both hear each other.
            let isSilent = now - peer.heard >= Self.silenceTime
            peer.due = now + (isSilent ? Self.interval : Self.keepaliveInterval)
            state = .connected(peer)
            send(.acceptance, to: peer)
        case .idle: break
        }
    }

    mutating func finish(_ reason: CallEnd) {
        state = .idle
        report(.ended(reason))
    }

    /// Ends the call, and tells the other end so a few times.
    mutating func sayEnd(of peer: CallPeer, at now: Instant) {
        var peer = peer
        peer.due = now + Self.interval
        state = .ending(peer, timesLeft: Self.endCount - 1)
        remember(peer, at: now)
        send(.end, to: peer)
    }

    mutating func remember(_ peer: CallPeer, _ refusal: CallRefusal? = nil, at now: Instant) {
        ended = EndedCall(peer: peer, refusal: refusal, end: now + Self.endedTime)
    }
}
