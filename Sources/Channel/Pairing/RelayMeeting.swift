package import TenfourAudioCore
package import TenfourChannelKeys
internal import TenfourPacing
package import TenfourSession

/// A station's part in pairing through a relay (Protocol/11-pairing.md, Through a relay): it keeps a number at the relay
/// for the words that this station shows, and meets the station whose number was typed.
///
/// Opens no socket and reads no clock. After each input, take datagrams until nil, then events until nil, then sleep
/// until `nextDeadline`. It does not know the words: `PairingResponder` and `PairingInitiator` do the rest, with the relay
/// as their other end.
package struct RelayMeeting: Sendable {
    package enum Event: Hashable, Sendable {
        /// The station waits under this number, which is another one than before, or holds again after `.silent`.
        case number(RendezvousNumber)
        /// The relay gives no number for now. It is asked again each 10 s.
        case noNumber(RendezvousMessage.PlaceRefusal)
        /// The relay has given a number, and no longer answers. It is asked on.
        case silent
        /// The channel of the link that this station gives away has this pass.
        case pass(ChannelPass)
        /// The relay has no room yet for the run with the station whose number was typed.
        case waits
        /// The relay passes on the run with this number.
        case met(relay: Endpoint, run: UInt64)
        /// The station whose number was typed is not met.
        case failed(MeetingFailure)
        /// The relay is of no use: nothing more is asked.
        case useless(RelayFault)
    }

    private var exchange: CookieExchange
    private var place: Place?
    private var visit: Visit?
    private var departure: Departure?
    /// Whether the relay has shown that it pairs stations.
    private var isOffered = false
    /// The time of the first PLACE or MEET, until the relay has shown that.
    private var firstRequest: Instant?
    private var agreements = TokenBucket(perSecond: 10, most: 10)
    private var outbox: [(to: Endpoint, datagram: [UInt8])] = []
    private var events: [Event] = []
    private var generator: CSPRNG
    /// How often each address of the relay has refused a datagram. Without meaning once one of them has answered.
    private var refusals: [Endpoint: Int] = [:]

    /// The place at the relay under whose number this station waits.
    private struct Place: Sendable {
        let share: KeyShare
        /// The event of the relay's last answer; nil before the first one.
        var news: Event?
        var next: Instant
        /// The time at which the present PLACE was first due; nil while it is answered.
        var request: Instant?
        var isSilent = false
    }

    /// A place that the station has left. The relay does not answer LEAVE, so it is sent three times.
    private struct Departure: Sendable {
        let message: RendezvousMessage
        var next: Instant
        var timesLeft = 3
    }

    /// The station whose number was typed.
    private struct Visit: Sendable {
        let number: RendezvousNumber
        let run: UInt64
        let begin: Instant
        var next: Instant
        /// The time at which it is given up.
        var end: Instant
        var isMet = false
        var isWaitTold = false
    }

    /// The longest interval of PLACE, which keeps the place, and the path through routers.
    static let placeInterval = Duration.seconds(10)
    /// The time limits for the first COOKIE, and for the first answer behind it.
    static let cookieLimit = Duration.seconds(10)
    static let offerLimit = Duration.seconds(3)
    /// The time after which a relay that has stopped answering is told of.
    static let silence = Duration.seconds(10)
    /// The time limits for MET, for the first answer of the other station, and for a run that waits.
    static let answerLimit = Duration.seconds(5)
    static let waitLimit = Duration.seconds(120)
    /// The time after which a person is told that the run waits.
    static let waitNotice = Duration.seconds(2)
    private static let leaveInterval = Duration.milliseconds(100)
    /// The number of refusals of each address after which the station concludes that no relay is there. One may be about a
    /// datagram of another program.
    static let refusalCount = 2
    private static let maximumOutboxCount = 16
    private static let maximumEventCount = 16

    /// - `addresses`: those of the relay, at least one.
    /// - `isWaiting`: whether the relay is asked for a number.
    /// - `generator`: must be unpredictable, outside tests.
    package init(_ addresses: [Endpoint], isWaiting: Bool, using generator: inout some RandomNumberGenerator) {
        exchange = CookieExchange(addresses, nonce: .random(in: 0 ... .max, using: &generator))
        self.generator = CSPRNG(using: &generator)
        if isWaiting { place = Place(share: KeyShare(using: &self.generator), next: .start) }
    }

    // MARK: The station

    /// Gives the number back. A relay that does not get the message forgets the number after 30 s.
    package mutating func leave(at now: Instant) {
        guard let place else { return }
        self.place = nil
        restIfIdle()
        guard let cookie = exchange.latestCookie else { return }
        departure = Departure(
            message: .leave(nonce: exchange.nonce, cookie, share: place.share.point), next: now)
        timeElapsed(at: now)
    }

    /// Whether this station waits under a number, or for one.
    package var isWaiting: Bool { place != nil }

    /// Gives the number back and asks for another one. Does nothing if this station does not wait.
    package mutating func renew(at now: Instant) {
        guard place != nil else { return }
        leave(at: now)
        place = Place(share: KeyShare(using: &generator), next: now)
        timeElapsed(at: now)
    }

    /// Whether LEAVE still has to be sent.
    package var isLeaving: Bool { departure != nil }

    /// Meets the station that waits under `number`, instead of one whose number was typed before.
    package mutating func meet(_ number: RendezvousNumber, at now: Instant) {
        let run = UInt64.random(in: 1 ... .max, using: &generator)
        visit = Visit(number: number, run: run, begin: now, next: now, end: now + Self.answerLimit)
        timeElapsed(at: now)
    }

    /// Gives up the station whose number was typed, without an event.
    package mutating func cancel() {
        visit = nil
        restIfIdle()
    }

    /// Whether the station whose number was typed has still to be met.
    package var isMeeting: Bool { visit?.isMet == false }

    /// Whether what comes from this endpoint comes from the relay.
    package func isRelay(_ endpoint: Endpoint) -> Bool { exchange.addresses.contains(endpoint) }

    private mutating func restIfIdle() {
        guard nextRequest == nil else { return }
        exchange.rest()
        firstRequest = nil
    }

    // MARK: The network

    /// Receives any datagram. Ignores what is not the relay's answer to this station.
    package mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        guard isRelay(sender) else { return }
        if let packet = try? ControlPacket(parsing: datagram) {
            guard case .cookie(let cookie, nonce: exchange.nonce) = packet,
                exchange.accept(cookie, from: sender, at: now)
            else { return }
            timeElapsed(at: now)
        } else if sender == exchange.relay {
            switch RendezvousMessage(parsing: datagram) {
            case .number(nonce: exchange.nonce, let answer): accept(answer, at: now)
            case .met(nonce: exchange.nonce, initiator: let run, let outcome) where run == visit?.run:
                accept(outcome, from: sender, at: now)
            case .pass(let pass): open(pass, at: now)
            case .number, .met, .place, .meet, .leave: break
            case nil: hearAnswer(datagram)
            }
        }
    }

    /// The network says that no program uses the relay's port (ICMP). Anybody may forge that, so it counts only before
    /// the relay has ever answered: then it shortens the wait, and the person tries again.
    package mutating func refused(by endpoint: Endpoint, at now: Instant) {
        guard exchange.relay == nil, nextRequest != nil, isRelay(endpoint) else { return }
        refusals[endpoint, default: 0] += 1
        guard exchange.addresses.allSatisfy({ refusals[$0, default: 0] >= Self.refusalCount }) else { return }
        giveUp(because: .refused)
    }

    /// Must be called at `nextDeadline`; an earlier call does nothing.
    package mutating func timeElapsed(at now: Instant) {
        judge(at: now)
        sendDeparture(at: now)
        guard let due = nextRequest, due <= now else { return exchange.rest() }
        if let place, place.next <= now, place.request == nil { self.place?.request = now }
        guard let cookie = exchange.cookieForRequest(at: now) else { return sendHello(at: now) }
        if !isOffered, firstRequest == nil { firstRequest = now }
        if let place, place.next <= now {
            self.place?.next = now + (place.isSilent ? CookieExchange.longInterval : CookieExchange.interval)
            send(.place(nonce: exchange.nonce, cookie, share: place.share.point))
        }
        if let visit, visit.next <= now {
            self.visit?.next = now + CookieExchange.interval
            send(.meet(nonce: exchange.nonce, cookie, visit.number, initiator: visit.run))
        }
    }

    /// The time at which `timeElapsed` must be called; nil if nothing is due.
    package var nextDeadline: Instant? {
        guard let request = nextRequest else { return departure?.next }
        let limits = [uselessTime, silenceTime, isOffered ? visit?.end : nil, departure?.next]
        return ([exchange.next ?? request] + limits.compactMap(\.self)).min()
    }

    /// Appends the next datagram, at most 128 bytes, and returns where it goes; nil if there is none.
    package mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        guard let next = outbox.first, buffer.freeCapacity >= next.datagram.count else { return nil }
        outbox.removeFirst()
        buffer.append(next.datagram.span)
        return next.to
    }

    package mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// The time at which PLACE or MEET is due; nil if the station wants nothing of the relay.
    private var nextRequest: Instant? { [place?.next, visit?.next].compactMap(\.self).min() }
}

// MARK: Answers

extension RelayMeeting {
    private mutating func accept(_ answer: RendezvousMessage.PlaceAnswer, at now: Instant) {
        // One answer for each PLACE: a relay that sends more cannot fill the person's screen.
        guard let known = place, known.request != nil else { return }
        isAnswered(at: now)
        place?.request = nil
        place?.isSilent = false
        let news: Event
        var interval = Self.placeInterval
        switch answer {
        case .number(let number, let seconds):
            news = .number(number)
            // The number that the person says must not have ended.
            interval = min(interval, .seconds(max(Int(seconds), 1)))
        case .refused(let reason): news = .noNumber(reason)
        }
        place?.next = now + interval
        place?.news = news
        if known.isSilent || known.news != news { report(news) }
    }

    private mutating func accept(_ outcome: RendezvousMessage.MeetOutcome, from relay: Endpoint, at now: Instant) {
        isAnswered(at: now)
        guard let visit, !visit.isMet else { return }
        switch outcome {
        case .met:
            // MEET goes on: each causes PASS again, until the other end answers.
            self.visit?.isMet = true
            self.visit?.end = now + Self.answerLimit
            report(.met(relay: relay, run: visit.run))
        case .wait:
            self.visit?.end = min(visit.begin + Self.waitLimit, now + Self.answerLimit)
            guard now - visit.begin >= Self.waitNotice, !visit.isWaitTold else { return }
            self.visit?.isWaitTold = true
            report(.waits)
        case .unknown: fail(.unknownNumber)
        case .tooManyNumbers: fail(.tooManyNumbers)
        case .tooManyRuns: fail(.tooManyRuns)
        }
    }

    private mutating func isAnswered(at now: Instant) {
        exchange.requestIsAnswered()
        guard !isOffered else { return }
        isOffered = true
        firstRequest = nil
        visit?.end = now + Self.answerLimit
    }

    private mutating func open(_ sealed: SealedPass, at now: Instant) {
        guard let place, agreements.spend(1, at: now), let pass = sealed.opened(by: place.share) else { return }
        report(.pass(pass))
    }

    /// The station that was met answers: so it has the pass.
    private mutating func hearAnswer(_ datagram: Span<UInt8>) {
        guard let message = PairingMessage(parsing: datagram), message.kind == .challenge,
            message.initiator == visit?.run, visit?.isMet == true
        else { return }
        cancel()
    }
}

// MARK: Time limits

extension RelayMeeting {
    /// The time at which the relay is of no use, unless it answers; nil if it has shown its use.
    private var uselessTime: Instant? {
        guard !isOffered else { return nil }
        let times = [exchange.begin.map { $0 + Self.cookieLimit }, firstRequest.map { $0 + Self.offerLimit }]
        return times.compactMap(\.self).min()
    }

    private var silenceTime: Instant? {
        guard let place, isOffered, !place.isSilent else { return nil }
        return place.request.map { $0 + Self.silence }
    }

    private mutating func judge(at now: Instant) {
        if let time = uselessTime, time <= now {
            return giveUp(because: firstRequest == nil ? .noAnswer : .pairsNone)
        }
        if let time = silenceTime, time <= now {
            place?.isSilent = true
            report(.silent)
        }
        guard isOffered, let visit, visit.end <= now else { return }
        if visit.isMet { return cancel() }
        fail(now >= visit.begin + Self.waitLimit ? .noRoom : .noAnswer)
    }

    private mutating func giveUp(because fault: RelayFault) {
        report(.useless(fault))
        (place, visit) = (nil, nil)
        restIfIdle()
    }

    private mutating func sendHello(at now: Instant) {
        for endpoint in exchange.addressesForHello(at: now) {
            put([UInt8](capacity: 128) { ControlPacket.writeHello(nonce: exchange.nonce, into: &$0) }, to: endpoint)
        }
    }

    private mutating func sendDeparture(at now: Instant) {
        guard let leaving = departure, leaving.next <= now else { return }
        send(leaving.message)
        departure?.next = now + Self.leaveInterval
        departure?.timesLeft -= 1
        if leaving.timesLeft == 1 { departure = nil }
    }

    private mutating func send(_ message: RendezvousMessage) {
        guard let relay = exchange.relay else { return }
        put(message.bytes, to: relay)
    }

    private mutating func put(_ datagram: [UInt8], to endpoint: Endpoint) {
        guard outbox.count < Self.maximumOutboxCount else { return }
        outbox.append((endpoint, datagram))
    }

    private mutating func fail(_ failure: MeetingFailure) {
        cancel()
        report(.failed(failure))
    }

    private mutating func report(_ event: Event) {
        guard events.count < Self.maximumEventCount else { return }
        events.append(event)
    }
}
