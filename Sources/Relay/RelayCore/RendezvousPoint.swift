internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPairing
internal import TenfourSession

/// A relay's part in the pairing of two stations (Protocol/11-pairing.md): it gives one of them a number and the pass of a
/// channel, and passes on the messages of a run to the other one, which has named the number.
///
/// It does not know the words, and cannot read the link. It answers nobody who has not shown a cookie, and sends no more
/// bytes than it has received.
struct RendezvousPoint: Sendable {
    private let passes: PassMaker
    private var places: WaitingPlaces
    private var table: RendezvousTable
    private var limits: RendezvousLimits

    init(_ passes: PassMaker, using generator: inout CSPRNG) {
        self.passes = passes
        places = WaitingPlaces(using: &generator)
        table = RendezvousTable(using: &generator)
        limits = RendezvousLimits(using: &generator)
    }

    /// The time at which `timeElapsed` must be called; nil if nobody waits.
    var deadline: Instant? { places.deadline }

    mutating func timeElapsed(at now: Instant) { places.timeElapsed(at: now) }

    /// Handles a PLACE with a right cookie.
    mutating func place(
        _ share: SharePoint, nonce: UInt128, from sender: Endpoint, at now: Instant, into outbox: inout DatagramQueue,
        using generator: inout CSPRNG
    ) -> Relay.Reception {
        guard limits.allowsRequest(from: sender.address, at: now) else { return .discarded(.tooManyPlaces) }
        let answer = places.wait(share, at: sender, now, using: &generator)
        outbox.put(.number(nonce: nonce, answer), to: sender)
        guard case .number = answer else { return .discarded(.tooManyPlaces) }
        table.move(share, to: sender)
        return .handled
    }

    /// Handles a LEAVE with a right cookie. A rendezvous with the station goes on.
    mutating func leave(_ share: SharePoint, from sender: Endpoint, at now: Instant) -> Relay.Reception {
        guard limits.allowsRequest(from: sender.address, at: now) else { return .discarded(.tooManyPlaces) }
        return places.leave(share, from: sender) ? .handled : .discarded(.strayPairing)
    }

    /// Handles a MEET with a right cookie, which names `number` for the run `run`.
    mutating func meet(
        _ number: RendezvousNumber, run: UInt64, nonce: UInt128, from sender: Endpoint, at now: Instant,
        into outbox: inout DatagramQueue, using generator: inout CSPRNG
    ) -> Relay.Reception {
        guard limits.allowsRequest(from: sender.address, at: now) else { return .discarded(.tooManyNumbers) }
        let outcome = outcome(of: number, run: run, from: sender, at: now, using: &generator)
        if outcome == .met, let index = table.index(number, run: run, of: sender, at: now) {
            outbox.put(table[index].pass, to: table[index].responder)
        }
        outbox.put(.met(nonce: nonce, initiator: run, outcome), to: sender)
        return switch outcome {
        case .met: .handled
        case .unknown: .discarded(.wrongNumber)
        case .wait: .discarded(.rendezvousFull)
        case .tooManyNumbers: .discarded(.tooManyNumbers)
        case .tooManyRuns: .discarded(.tooManyRuns)
        }
    }

    private mutating func outcome(
        of number: RendezvousNumber, run: UInt64, from sender: Endpoint, at now: Instant,
        using generator: inout CSPRNG
    ) -> RendezvousMessage.MeetOutcome {
        if let index = table.index(number, run: run, of: sender, at: now) {
            return repeatMeeting(index, run: run, from: sender, at: now)
        }
        guard limits.allowsNumber(from: sender.address, at: now) else { return .tooManyNumbers }
        guard let place = places.place(number, at: now) else {
            limits.countWrongNumber(from: sender.address, at: now)
            return .unknown
        }
        guard place.runCount(of: sender.address) < WaitingPlaces.maximumRunCount else { return .tooManyRuns }
        guard let room = table.room(for: sender.address, at: place, now) else { return .wait }
        let pass = passes.drawPass(using: &generator)
        guard let sealed = SealedPass(pass, for: place.share, using: &generator) else {
            // Anybody could open a pass for this share. The relay learns it only here, because PLACE costs no X25519.
            // Nobody has given way for it, and its initiator has had a turn and named a wrong number.
            places.remove(place)
            limits.countWrongNumber(from: sender.address, at: now)
            table.spendTurn(of: sender.address, at: now)
            return .unknown
        }
        places.countMeeting(of: sender.address, with: place)
        table.begin(Rendezvous(place, with: sender, run: run, pass: .pass(sealed), at: now), in: room)
        return .met
    }

    /// Handles a MEET for a rendezvous that has begun: the first one again, or that of the initiator's next run.
    private mutating func repeatMeeting(
        _ index: Int, run: UInt64, from sender: Endpoint, at now: Instant
    ) -> RendezvousMessage.MeetOutcome {
        if table[index].run != run {
            guard let place = places.place(table[index].number, at: now) else { return .unknown }
            guard place.runCount(of: sender.address) < WaitingPlaces.maximumRunCount else { return .tooManyRuns }
        }
        table[index].repeated(run: run, from: sender, at: now)
        return .met
    }

    /// Passes on a message of a run to the other station of its rendezvous, unchanged.
    mutating func pass(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, into outbox: inout DatagramQueue
    ) -> Relay.Reception {
        guard let message = PairingMessage(parsing: datagram),
            let (index, destination) = table.route(message, from: sender, at: now)
        else { return .discarded(.strayPairing) }
        let isFirstGuess = message.kind == .confirmation && !table[index].isConfirmed
        guard table[index].pass(message, datagram, at: now) else { return .discarded(.strayPairing) }
        if isFirstGuess { places.countRun(of: sender.address, with: table[index].number) }
        outbox.put(datagram, to: destination)
        return .handled
    }
}

extension Relay {
    /// Handles a datagram of pairing.
    mutating func pairing(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Reception {
        if let reception = offeredPairing(datagram, from: sender, at: now) { return reception }
        let isPairing = RendezvousMessage(parsing: datagram) != nil || PairingMessage(parsing: datagram) != nil
        return .discarded(isPairing ? .pairingOff : .unknownProtocol)
    }

    /// Returns nil if the relay pairs no stations.
    private mutating func offeredPairing(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant
    ) -> Reception? {
        guard rendezvous != nil else { return nil }
        guard hasRoomForStrangers else { return .discarded(.tooManyHandshakes) }
        switch RendezvousMessage(parsing: datagram) {
        case .place(let nonce, let cookie, let share):
            if let discard = joins.discard(cookie, for: nonce, from: sender, at: now) { return .discarded(discard) }
            return rendezvous?.place(
                share, nonce: nonce, from: sender, at: now, into: &outbox, using: &generator)
        case .meet(let nonce, let cookie, let number, let run):
            if let discard = joins.discard(cookie, for: nonce, from: sender, at: now) { return .discarded(discard) }
            return rendezvous?.meet(
                number, run: run, nonce: nonce, from: sender, at: now, into: &outbox, using: &generator)
        case .leave(let nonce, let cookie, let share):
            if let discard = joins.discard(cookie, for: nonce, from: sender, at: now) { return .discarded(discard) }
            return rendezvous?.leave(share, from: sender, at: now)
        case .number, .met, .pass: return .discarded(.strayPairing)
        case nil: return rendezvous?.pass(datagram, from: sender, at: now, into: &outbox)
        }
    }
}

extension DatagramQueue {
    fileprivate mutating func put(_ message: RendezvousMessage, to endpoint: Endpoint) {
        put(capacity: RendezvousMessage.requestByteCount, to: endpoint) { message.write(into: &$0) }
    }
}
