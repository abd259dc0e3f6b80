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
    public enum Answering: Hashable, Sendable { case byPerson, automatic, never }

    public var answering: Answering
    /// The station's own name, at most 64 bytes of UTF-8.
    public var name: String

    private var state = State.idle
    private let challenge: AddressChallenge
    private var generator: CSPRNG
    /// The one whose call the person last declined, which may not ring again so soon.
    private var declined: (address: IPAddress, until: Instant)?
    private var outbox: [(to: Endpoint, message: CallMessage)] = []
    private var events: [CallEvent] = []

    /// A call, or an attempt, with the station at one endpoint.
    fileprivate struct Peer: Sendable {
        let endpoint: Endpoint
        var caller: UInt64
        var callee: UInt64 = 0
        var name = ""
        /// Whether the other end has said that it rings.
        var hasRung = false
        /// Whether the other end is known to understand calls.
        var knowsCalls = false
        var began: Instant
        /// When the other end was last heard.
        var heard: Instant
        /// When the next repetition is due.
        var due: Instant
    }

    private enum State: Sendable {
        case idle
        /// We have called, and nobody has answered yet.
        case calling(Peer)
        /// We have called, and the other end's person is being asked.
        case waiting(Peer)
        /// We are called, and our person is being asked.
        case ringing(Peer)
        /// Our person wants to talk, and the caller has not confirmed.
        case accepting(Peer)
        case connected(Peer)
        /// We have hung up, and say so a few times.
        case ending(Peer, timesLeft: Int)
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
    /// The time after the connection in which an invitation of the same station is taken for a late one.
    static let settlingTime = Duration.seconds(2)
    private static let endCount = 3
    private static let maximumOutboxCount = 8
    private static let maximumEventCount = 16

    /// `generator` must be unpredictable: the system's generator, outside tests.
    public init(name: String, answering: Answering, using generator: inout some RandomNumberGenerator) {
        self.name = name
        self.answering = answering
        challenge = AddressChallenge(using: &generator)
        self.generator = CSPRNG(using: &generator)
    }

    /// The endpoint of the call that is connected; nil if there is none.
    public var partner: Endpoint? { if case .connected(let peer) = state { peer.endpoint } else { nil } }

    /// Whether a call can begin.
    public var isIdle: Bool {
        switch state {
        case .idle, .ending: true
        default: false
        }
    }

    /// Calls the station at an endpoint that a person chose. Returns false during another call.
    ///
    /// `knowsCalls`: whether the station has announced that it understands calls. If so, silence means that it is not
    /// reachable; otherwise the event is `plain`.
    public mutating func call(_ endpoint: Endpoint, knowsCalls: Bool = false, at now: Instant) -> Bool {
        guard isIdle else { return false }
        let number = UInt64.random(in: 1 ... .max, using: &generator)
        let peer = Peer(
            endpoint: endpoint, caller: number, knowsCalls: knowsCalls, began: now, heard: now,
            due: now + Self.interval)
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
        send(.refusal, .declined, to: peer)
        state = .idle
    }

    /// Ends the call, or takes the invitation back. Does nothing without a call.
    public mutating func hangUp(at now: Instant) {
        switch state {
        case .ringing: decline(at: now)
        case .calling(var peer), .waiting(var peer), .accepting(var peer), .connected(var peer):
            peer.due = now + Self.interval
            state = .ending(peer, timesLeft: Self.endCount - 1)
            send(.end, to: peer)
        case .idle, .ending: break
        }
    }

    /// The time at which `timeElapsed` must be called; nil if nothing is due.
    public var nextDeadline: Instant? {
        switch state {
        case .idle, .connected: nil
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
            send(.refusal, .notAnswered, to: peer)
            finish(.missed(name: peer.name))
        case .ringing(let peer):
            finish(.missed(name: peer.name))
        case .accepting(let peer) where now - peer.heard >= Self.patience:
            finish(.lost)
        case .accepting(var peer):
            send(.acceptance, to: peer)
            peer.due = now + Self.interval
            state = .accepting(peer)
        case .ending(var peer, let left):
            send(.end, to: peer)
            peer.due = now + Self.interval
            state = left > 1 ? .ending(peer, timesLeft: left - 1) : .idle
        case .idle, .connected: break
        }
    }

    private mutating func finish(_ reason: CallEnd) {
        state = .idle
        report(.ended(reason))
    }
}

// MARK: Datagrams

extension StationCall {
    /// Receives any datagram. Ignores what is no message of a call, or has no meaning in the present state.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        guard let message = CallMessage(parsing: datagram) else { return }
        switch message.kind {
        case .probe: queue(CallMessage(.probeReply, caller: message.caller, name: name), to: sender)
        case .invitation: invited(message, from: sender, at: now)
        case .challenge, .ringing, .acceptance, .refusal: answered(message, from: sender, at: now)
        case .confirmation, .end: concluded(message, from: sender, at: now)
        case .probeReply: break
        }
    }

    private mutating func invited(_ message: CallMessage, from sender: Endpoint, at now: Instant) {
        let number = challenge.number(for: message.caller, at: PeerAddress(sender))
        guard message.callee == number else {
            guard message.callee == 0 else { return }
            return queue(CallMessage(.challenge, caller: message.caller, callee: number, name: name), to: sender)
        }
        let peer = Peer(
            endpoint: sender, caller: message.caller, callee: number, name: message.name, began: now, heard: now,
            due: now + Self.interval)
        switch state {
        case .ringing(var known) where known.isSame(as: peer):
            known.heard = now
            state = .ringing(known)
            send(.ringing, to: known)
        case .accepting(let known) where known.isSame(as: peer): send(.acceptance, to: known)
        case .connected(let known) where known.isSame(as: peer): break
        case .connected(let known) where known.endpoint == sender:
            guard now - known.began >= Self.settlingTime else { return }
            report(.ended(.replaced))
            ring(peer, at: now)
        case .calling(let own) where own.endpoint == sender, .waiting(let own) where own.endpoint == sender:
            // Both call each other. The call with the lower number is the one; its callee accepts it at once.
            guard message.caller < own.caller else { return }
            state = .accepting(peer)
            send(.acceptance, to: peer)
        case .idle, .ending: ring(peer, at: now)
        default: send(.refusal, .busy, to: peer)
        }
    }

    private mutating func ring(_ peer: Peer, at now: Instant) {
        if let declined, declined.until <= now { self.declined = nil }
        switch answering {
        case .never:
            state = .idle
            send(.refusal, .takesNone, to: peer)
        case .byPerson where declined?.address == peer.endpoint.address:
            state = .idle
            send(.refusal, .declined, to: peer)
        case .byPerson:
            state = .ringing(peer)
            send(.ringing, to: peer)
            report(.incoming(peer.endpoint, name: peer.name))
        case .automatic:
            state = .accepting(peer)
            send(.acceptance, to: peer)
        }
    }

    private mutating func answered(_ message: CallMessage, from sender: Endpoint, at now: Instant) {
        switch state {
        case .calling(var peer), .waiting(var peer):
            guard peer.endpoint == sender, peer.caller == message.caller else { return }
            if message.kind == .challenge {
                guard peer.callee == 0 else { return }
                peer.callee = message.callee
                peer.heard = now
                peer.due = now + Self.interval
                state = .waiting(peer)
                return send(.invitation, to: peer)
            }
            guard peer.callee != 0, peer.callee == message.callee else { return }
            answered(message, from: peer, at: now)
        case .connected(let peer) where message.kind == .acceptance && peer.isNamed(by: message, sender):
            send(.confirmation, to: peer)
        default: break
        }
    }

    /// Handles the answer to an invitation that had the callee's number.
    private mutating func answered(_ message: CallMessage, from peer: Peer, at now: Instant) {
        var peer = peer
        peer.heard = now
        if message.kind == .ringing {
            if peer.name != message.name || !peer.hasRung {
                peer.name = message.name
                peer.hasRung = true
                report(.rings(name: message.name))
            }
            peer.due = now + Self.ringInterval
            state = .waiting(peer)
        } else if message.kind == .acceptance {
            connect(peer, name: message.name, at: now)
            send(.confirmation, to: peer)
        } else if let reason = CallRefusal(rawValue: message.detail) {
            finish(.refused(reason))
        }
    }

    private mutating func connect(_ peer: Peer, name: String, at now: Instant) {
        var peer = peer
        peer.began = now
        state = .connected(peer)
        report(.connected(peer.endpoint, name: name))
    }

    private mutating func concluded(_ message: CallMessage, from sender: Endpoint, at now: Instant) {
        switch (message.kind, state) {
        case (.confirmation, .accepting(let peer)) where peer.isNamed(by: message, sender):
            connect(peer, name: peer.name, at: now)
        case (.end, .ringing(let peer)) where peer.isNamed(by: message, sender): finish(.missed(name: peer.name))
        case (.end, .accepting(let peer)) where peer.isNamed(by: message, sender),
            (.end, .connected(let peer)) where peer.isNamed(by: message, sender):
            finish(.hungUp)
        default: break
        }
    }

    private mutating func send(_ kind: CallMessage.Kind, _ reason: CallRefusal? = nil, to peer: Peer) {
        let message = CallMessage(
            kind, detail: reason?.rawValue ?? 0, caller: peer.caller, callee: peer.callee, name: name)
        queue(message, to: peer.endpoint)
    }

    private mutating func queue(_ message: CallMessage, to endpoint: Endpoint) {
        guard outbox.count < Self.maximumOutboxCount else { return }
        outbox.append((endpoint, message))
    }

    private mutating func report(_ event: CallEvent) {
        guard events.count < Self.maximumEventCount else { return }
        events.append(event)
    }
}

extension StationCall.Peer {
    fileprivate func isSame(as other: Self) -> Bool { endpoint == other.endpoint && caller == other.caller }

    /// Whether a message from `sender` has both numbers of this call.
    fileprivate func isNamed(by message: CallMessage, _ sender: Endpoint) -> Bool {
        endpoint == sender && caller == message.caller && callee == message.callee && callee != 0
    }
}
