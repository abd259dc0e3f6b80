public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourSession

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
        let peer = CallPeer(
            endpoint: sender, hasCalled: true, caller: message.caller, callee: number, name: message.name, began: now,
            heard: now, due: now + Self.interval)
        if let ended, now < ended.end, ended.peer.isSame(as: peer) {
            return send(ended.refusal == nil ? .end : .refusal, ended.refusal, to: peer)
        }
        switch state {
        case .ringing(var known) where known.isSame(as: peer):
            known.heard = now
            state = .ringing(known)
            send(.ringing, to: known)
        case .accepting(let known) where known.isSame(as: peer): send(.acceptance, to: known)
        case .connected(let known) where known.isSame(as: peer): break
        case .connected(let known) where known.endpoint == sender:
            guard now - known.began >= Self.settlingTime else { return }
            remember(known, at: now)
            report(.ended(.replaced))
            ring(peer, at: now)
        case .calling(let own) where own.isAt(sender), .waiting(let own) where own.isAt(sender):
            // Both call each other. The call with the lower number is the one; its callee accepts it at once.
            guard message.caller < own.caller else { return }
            state = .accepting(peer)
            send(.acceptance, to: peer)
        case .idle, .ending: ring(peer, at: now)
        default: turnAway(peer, at: now)
        }
    }

    private mutating func turnAway(_ peer: CallPeer, at now: Instant) {
        send(.refusal, .busy, to: peer)
        guard turnedAway?.isSame(as: peer) != true else { return }
        turnedAway = peer
        report(.missedWhileBusy(peer.endpoint, name: peer.name, at: now))
    }

    private mutating func ring(_ peer: CallPeer, at now: Instant) {
        if let declined, declined.until <= now { self.declined = nil }
        switch answering {
        case .never: refuseAll(peer)
        case .onlyFrom(let names) where !names.contains(peer.name.lowercased()): refuseAll(peer)
        case .busy:
            state = .idle
            turnAway(peer, at: now)
        case .byPerson(let names) where !names.contains(peer.name.lowercased()):
            guard declined?.address != peer.endpoint.address else {
                state = .idle
                return send(.refusal, .declined, to: peer)
            }
            state = .ringing(peer)
            send(.ringing, to: peer)
            report(.incoming(peer.endpoint, name: peer.name))
        case .byPerson, .onlyFrom, .automatic:
            state = .accepting(peer)
            send(.acceptance, to: peer)
        }
    }

    /// Says that this station takes no calls like this one.
    private mutating func refuseAll(_ peer: CallPeer) {
        state = .idle
        send(.refusal, .takesNone, to: peer)
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
        case .connected(var peer) where message.kind == .acceptance && peer.isNamed(by: message, sender):
            peer.heard = now
            state = .connected(peer)
            send(.confirmation, to: peer)
        default:
            guard message.kind == .acceptance, let ended, now < ended.end, ended.refusal == nil,
                ended.peer.isNamed(by: message, sender)
            else { return }
            send(.end, to: ended.peer)
        }
    }

    /// Handles the answer to an invitation that had the callee's number.
    private mutating func answered(_ message: CallMessage, from peer: CallPeer, at now: Instant) {
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

    private mutating func connect(_ peer: CallPeer, name: String, at now: Instant) {
        var peer = peer
        peer.began = now
        peer.heard = now
        peer.due = now + Self.keepaliveInterval
        state = .connected(peer)
        report(.connected(peer.endpoint, name: name))
    }

    private mutating func concluded(_ message: CallMessage, from sender: Endpoint, at now: Instant) {
        switch (message.kind, state) {
        case (.confirmation, .accepting(let peer)) where peer.isNamed(by: message, sender):
            connect(peer, name: peer.name, at: now)
        case (.confirmation, .connected(var peer)) where peer.isNamed(by: message, sender):
            peer.heard = now
            state = .connected(peer)
        case (.end, .ringing(let peer)) where peer.isNamed(by: message, sender):
            remember(peer, at: now)
            finish(.missed(name: peer.name))
        case (.end, .waiting(let peer)) where peer.isNamed(by: message, sender),
            (.end, .accepting(let peer)) where peer.isNamed(by: message, sender),
            (.end, .connected(let peer)) where peer.isNamed(by: message, sender):
            remember(peer, at: now)
            finish(.hungUp)
        default: break
        }
    }

    mutating func send(_ kind: CallMessage.Kind, _ reason: CallRefusal? = nil, to peer: CallPeer) {
        let message = CallMessage(
            kind, detail: reason?.rawValue ?? 0, caller: peer.caller, callee: peer.callee, name: name)
        queue(message, to: peer.endpoint)
    }

    mutating func queue(_ message: CallMessage, to endpoint: Endpoint) {
        guard outbox.count < Self.maximumOutboxCount else { return }
        outbox.append((endpoint, message))
    }

    mutating func report(_ event: CallEvent) {
        guard events.count < Self.maximumEventCount else { return }
        events.append(event)
    }
}
