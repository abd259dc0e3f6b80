public import TenfourAudioCore
public import TenfourCall
public import TenfourChannelKeys
public import TenfourDNSSD
public import TenfourPairing
public import TenfourSession

/// A station that waits: its calls, the stations nearby, those who send plain RTP, and pairing.
///
/// Opens no socket and reads no clock. After each input, take datagrams until nil, then events until nil, then sleep
/// until `nextDeadline`.
public struct Lobby: Sendable {
    /// What the station waits for.
    public enum Purpose: Sendable {
        /// Calls, which are answered in this way.
        case calls(StationCall.Answering)
        /// Pairing: these words are shown to the person, and the station at which they are typed gets the link.
        case pairing(PairingWords, ChannelLink)
        /// Pairing through a relay. The station neither appears in the lists of others nor lists them.
        case relayedPairing(RelayedPairing)
    }

    /// The stations nearby that can be chosen.
    public private(set) var nearby: NearbyStations
    private var stationCall: StationCall
    private var answering: StationCall.Answering
    private var plainCallers = PlainCallerDetector()
    private var responder: PairingResponder?
    private var initiator: PairingInitiator?
    /// The relay through which this station pairs; nil if it pairs with stations nearby, or not at all.
    private var meeting: RelayMeeting?
    private var relayed: RelayedPairing?
    /// The words of the station that is met at the relay.
    private var wordsToMeet: PairingWords?
    /// The guesses that were spent with other stations than that of `initiator`.
    private var earlierGuessCount = 0
    /// The number of times that other words are drawn for this station, through a relay, when guesses have made them void.
    private var renewalsLeft = 4
    private var generator: CSPRNG
    /// Whether a session uses the port: then it gets what is RTP.
    private var isInSession = false
    private var events: [LobbyEvent] = []

    private static let maximumEventCount = 64

    /// - `name`: what other stations show; at most 64 bytes of UTF-8, and may be empty.
    /// - `port`: the media port of this station.
    /// - `generator`: must be unpredictable, outside tests.
    public init(
        name: String, port: UInt16, _ purpose: Purpose, using generator: inout some RandomNumberGenerator
    ) {
        switch purpose {
        case .calls(let manner):
            answering = manner
            nearby = NearbyStations(offering: .calls, ownPort: port, using: &generator)
        case .pairing(let words, let link):
            answering = .never
            nearby = NearbyStations(offering: .pairing, ownPort: port, using: &generator)
            responder = PairingResponder(words, link: link, using: &generator)
        case .relayedPairing(let pairing):
            answering = .never
            nearby = NearbyStations(offering: .pairing, ownPort: port, using: &generator)
            relayed = pairing
            responder = pairing.words.map {
                PairingResponder(
                    $0, link: nil, guessCount: PairingResponder.guessCountAtRelay, using: &generator)
            }
            meeting = RelayMeeting(pairing.relay, isWaiting: pairing.words != nil, using: &generator)
        }
        stationCall = StationCall(name: name, answering: answering, using: &generator)
        self.generator = CSPRNG(using: &generator)
    }

    // MARK: The person

    /// Calls a station. Returns false during another call. `knowsCalls`: see `StationCall.call`.
    public mutating func call(_ endpoint: Endpoint, knowsCalls: Bool, at now: Instant) -> Bool {
        stationCall.call(
            endpoint, otherEndpoints: nearby.endpoints(ofStationAt: endpoint), knowsCalls: knowsCalls, at: now)
    }

    public mutating func accept(at now: Instant) { stationCall.accept(at: now) }
    public mutating func hangUp(at now: Instant) { stationCall.hangUp(at: now) }

    /// Returns the one who sends plain RTP, to whom the person wants to talk; nil if nobody does any more.
    public mutating func takePlainCaller() -> Endpoint? { plainCallers.take()?.endpoint }
    public mutating func ignorePlainCaller(at now: Instant) { plainCallers.ignore(at: now) }

    /// A session begins to use the port. Until it ends, calls from elsewhere are answered with "busy". `hasCall`: the
    /// session is that of a call, and does not begin if the call is over by now; then the result is false.
    public mutating func beginSession(hasCall: Bool) -> Bool {
        guard !hasCall || stationCall.partner != nil else { return false }
        isInSession = true
        isSessionOver = false
        if !hasCall { stationCall.answering = .busy }
        return true
    }

    /// Whether this station has answered the call that is connected; nil if there is none.
    public var hasAnswered: Bool? { stationCall.hasAnswered }

    /// Whether the other end has ended the call of the session.
    private(set) var isSessionOver = false

    /// The session has ended, and its call with it.
    public mutating func endSession(at now: Instant) {
        // Another call may have begun since the other end hung up.
        if !isSessionOver, stationCall.partner != nil { stationCall.hangUp(at: now) }
        isInSession = false
        isSessionOver = false
        stationCall.answering = answering
        nearby.restart(at: now)
    }

    /// Whether nothing is left to be sent about a call that is over, or about a number that is given back.
    public var isQuiet: Bool {
        stationCall.isIdle && stationCall.nextDeadline == nil && meeting?.isLeaving != true
    }

    /// Begins a run of pairing with the station at `endpoint`, whose person has said these words. Returns false if three
    /// guesses are spent, with whatever stations.
    public mutating func pair(with endpoint: Endpoint, _ words: PairingWords, at now: Instant) -> Bool {
        pair(with: endpoint, words, run: nil, at: now)
    }

    private mutating func pair(
        with endpoint: Endpoint, _ words: PairingWords, run: UInt64?, at now: Instant
    ) -> Bool {
        if initiator?.responder != endpoint {
            earlierGuessCount = guessCount
            initiator = PairingInitiator(responder: endpoint, using: &generator)
        }
        guard guessCount < PairingInitiator.guessCount else { return false }
        return initiator?.begin(words, run: run, at: now) ?? false
    }

    /// Meets the station that waits under `number` at the relay, whose person has said these words, and begins a run of
    /// pairing with it. Returns false if three guesses are spent.
    package mutating func pair(with number: RendezvousNumber, _ words: PairingWords, at now: Instant) -> Bool {
        guard guessCount < PairingInitiator.guessCount else { return false }
        initiator?.cancel()
        wordsToMeet = words
        meeting?.meet(number, at: now)
        collectEvents(at: now)
        return true
    }

    /// Gives the number at the relay back, if this station has one.
    public mutating func leaveRelay(at now: Instant) { meeting?.leave(at: now) }

    private var guessCount: Int {
        earlierGuessCount + (initiator.map { PairingInitiator.guessCount - $0.guessesLeft } ?? 0)
    }

    /// The words that this station shows; nil if it shows none.
    var shownWords: PairingWords? { responder?.words }
    /// The relay through which this station pairs, as its person has written it; nil if it pairs with stations nearby, or
    /// not at all.
    var relay: RelayHost? { relayed?.link.relays.first }
    /// The link that the one who knows this station's words gets; nil if there is none, or none yet.
    var ownLink: ChannelLink? { responder?.link }

    /// Whether the words that were typed here still wait for an answer, or the receipt of the link is being sent.
    public var isPairing: Bool { initiator?.nextDeadline != nil || meeting?.isMeeting == true }
    /// Gives up the words that were typed here.
    public mutating func cancelPairing() {
        initiator?.cancel()
        meeting?.cancel()
    }

    /// The number of the run in which the words of the station at `endpoint` were typed here; nil if there is none.
    private func runNumber(with endpoint: Endpoint) -> UInt64? {
        guard let initiator,
            initiator.responder == endpoint || nearby.endpoints(ofStationAt: initiator.responder).contains(endpoint)
        else { return nil }
        return initiator.runNumber
    }

    // MARK: The network

    /// The browser has found these services, and `hiddenCount` more.
    public mutating func update(_ services: [FoundService], hiddenCount: Int, at now: Instant) {
        nearby.update(services, hiddenCount: hiddenCount, at: now)
    }

    /// Receives a datagram from the media port. Returns false for one that is not handled here, and belongs to the
    /// session if there is one.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
        guard datagram.count > 0 else { return false }
        defer { collectEvents(at: now) }
        switch datagram[0] {
        case UInt8(ascii: "r"):
            nearby.receive(datagram, from: sender, at: now)
            stationCall.receive(datagram, from: sender, at: now)
        case UInt8(ascii: "p"):
            if let meeting {
                // Others are not answered: through the relay they cannot guess without the number.
                guard meeting.isRelay(sender) else { break }
                self.meeting?.receive(datagram, from: sender, at: now)
                collectEvents(at: now)
            }
            initiator?.receive(datagram, from: sender, at: now)
            let rival = runNumber(with: sender)
            if responder?.receive(datagram, from: sender, at: now, rival: rival) == true {
                initiator?.giveWay()
            }
        case ControlPacket.firstByte where meeting != nil: meeting?.receive(datagram, from: sender, at: now)
        default:
            guard PlainCallerDetector.mayBeMedia(datagram) else { return false }
            stationCall.heardMedia(from: sender, at: now)
            guard !isInSession, case .byPerson = answering else { return false }
            plainCallers.receive(datagram, from: sender, at: now)
        }
        return true
    }

    /// The network says that no program uses the port at `endpoint`, to which a datagram went.
    mutating func refused(by endpoint: Endpoint, at now: Instant) {
        meeting?.refused(by: endpoint, at: now)
        collectEvents(at: now)
    }

    /// Must be called at `nextDeadline`; an earlier call does nothing.
    public mutating func timeElapsed(at now: Instant) {
        stationCall.timeElapsed(at: now)
        if !isInSession {
            nearby.timeElapsed(at: now)
            plainCallers.timeElapsed(at: now)
        }
        initiator?.timeElapsed(at: now)
        responder?.timeElapsed(at: now)
        meeting?.timeElapsed(at: now)
        collectEvents(at: now)
    }

    /// The time at which `timeElapsed` must be called; nil if nothing is due.
    public var nextDeadline: Instant? {
        var deadlines = [
            stationCall.nextDeadline, initiator?.nextDeadline, responder?.nextDeadline, meeting?.nextDeadline,
        ]
        if !isInSession { deadlines += [nearby.nextDeadline, plainCallers.nextDeadline] }
        return deadlines.compactMap { $0 }.min()
    }

    /// Appends the next datagram, at most 1 092 bytes, and returns where it goes; nil if there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Endpoint? {
        if let endpoint = stationCall.nextDatagram(into: &buffer) { return endpoint }
        if !isInSession, let endpoint = nearby.nextDatagram(into: &buffer, at: now) { return endpoint }
        // MEET goes in front of the HELLO that needs it.
        if let endpoint = meeting?.nextDatagram(into: &buffer) { return endpoint }
        if let endpoint = responder?.nextDatagram(into: &buffer) { return endpoint }
        return initiator?.nextDatagram(into: &buffer) == true ? initiator?.responder : nil
    }

    package mutating func nextEvent() -> LobbyEvent? { events.isEmpty ? nil : events.removeFirst() }

    private mutating func collectEvents(at now: Instant) {
        while let event = meeting?.nextEvent() { handle(event, at: now) }
        while let event = stationCall.nextEvent() {
            if case .ended = event, isInSession { isSessionOver = true }
            // Callers during a long session leave room for its end.
            if case .missedWhileBusy = event, events.count >= Self.maximumEventCount / 2 { continue }
            report(.call(event))
        }
        while let event = responder?.nextEvent() {
            // The link that the other end gets is the one that holds.
            if case .paired = event {
                cancelPairing()
                meeting?.leave(at: now)
            }
            if case .wrongWords(from: _, guessesLeft: 0) = event, renewWords(at: now) {
                report(.newWords)
            } else {
                report(.shownWords(event))
            }
        }
        while let event = initiator?.nextEvent() {
            meeting?.cancel()
            if case .paired = event { meeting?.leave(at: now) }
            report(.typedWords(event))
        }
        while let event = plainCallers.nextEvent() {
            switch event {
            case .appeared(let endpoint, let name): report(.plainCallerAppeared(endpoint, name: name))
            case .left(let endpoint, let name): report(.plainCallerLeft(endpoint, name: name))
            }
        }
    }

    /// Draws other words, and asks the relay for another number. Returns false if this station does not wait at a relay,
    /// or after four renewals: each gives an attacker two more guesses.
    private mutating func renewWords(at now: Instant) -> Bool {
        guard meeting?.isWaiting == true, renewalsLeft > 0 else { return false }
        renewalsLeft -= 1
        responder?.renew(PairingWords(using: &generator))
        meeting?.renew(at: now)
        return true
    }

    private mutating func handle(_ event: RelayMeeting.Event, at now: Instant) {
        switch event {
        case .pass(let pass): if let link = relayed?.link(with: pass) { responder?.offer(link) }
        case .met(let relay, let run):
            guard let words = wordsToMeet.take() else { break }
            _ = pair(with: relay, words, run: run, at: now)
        case .number(let number): report(.relay(.number(number)))
        case .noNumber(let reason): report(.relay(.noNumber(reason)))
        case .silent: report(.relay(.silent))
        case .waits: report(.relay(.waits))
        case .failed(let failure): report(.relay(.failed(failure)))
        case .useless(let fault): report(.relay(.useless(fault)))
        }
    }

    private mutating func report(_ event: LobbyEvent) {
        guard events.count < Self.maximumEventCount else { return }
        events.append(event)
    }
}
