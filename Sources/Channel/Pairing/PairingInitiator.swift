public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourSession

/// The end of a pairing whose person types the words: it proves that it knows them, and receives the channel's link.
///
/// Opens no socket and reads no clock. After each input, take datagrams until nil, then events until nil, then sleep
/// until `nextDeadline`. Each run that reaches the proof lets a false responder check one guess at the words, so there
/// are at most three.
public struct PairingInitiator: Sendable {
    public enum Event: Equatable, Sendable {
        /// The responder knows the words, and this is the channel's link. The pairing is complete.
        case paired(ChannelLink)
        /// This run has failed. `guessesLeft` is the smaller of the guesses left at this end and at the other. Zero ends the
        /// pairing at this end; without a relay, at both ends. After `.guessedTooOften` only those of this end count.
        case failed(PairingFailure, guessesLeft: Int)
    }

    /// The datagrams go to this endpoint; those from elsewhere are ignored.
    public let responder: Endpoint
    /// The number of runs that may still reach the proof.
    public private(set) var guessesLeft = Self.guessCount
    /// The time at which `timeElapsed` must be called; nil if nothing is due.
    public var nextDeadline: Instant? { repetition.map { min($0, end) } }

    /// The number of the present run, for the responder of this station; nil if there is none. Zero when the link has been
    /// received, so that no other run has a lower number.
    public var runNumber: UInt64? {
        switch state {
        case .idle: nil
        case .asking, .sharing, .proving: message.initiator
        case .done: 0
        }
    }

    private var words: PairingWords?
    private var message: PairingMessage
    private var state = State.idle
    /// The datagram that is repeated until it is answered, and the time of the next repetition.
    private var datagram: [UInt8] = []
    private var repetition: Instant?
    private var end = Instant.start
    private var isDue = false
    private var receiptsLeft = 0
    private var event: Event?
    private var generator: CSPRNG

    private enum State: Sendable {
        case idle
        case asking
        case sharing(CPace)
        case proving(PairingKeys)
        case done(PairingKeys)
    }

    public static let guessCount = 3
    /// The time between two transmissions of a datagram that is not answered.
    public static let interval = Duration.milliseconds(250)
    /// The time limit for each of the three round trips.
    public static let patience = Duration.seconds(5)
    private static let receiptCount = 3

    /// `generator` must be unpredictable: the system's generator, outside tests.
    public init(responder: Endpoint, using generator: inout some RandomNumberGenerator) {
        self.responder = responder
        self.generator = CSPRNG(using: &generator)
        message = PairingMessage(.hello, initiator: 0)
    }

    /// Begins a run with words, which may be others than before. Its number is `run`, or drawn at random. Returns false if
    /// no run is left.
    public mutating func begin(_ words: PairingWords, run: UInt64? = nil, at now: Instant) -> Bool {
        guard guessesLeft > 0 else { return false }
        self.words = words
        event = nil
        state = .asking
        message = PairingMessage(.hello, initiator: run ?? .random(in: 1 ... .max, using: &generator))
        transmit(message.bytes(), at: now)
        return true
    }

    /// Gives up the present run, without an event. A guess that it has cost stays spent.
    public mutating func cancel() {
        state = .idle
        repetition = nil
        isDue = false
        event = nil
    }

    /// Ends the present run, because the other end's run with this station goes first.
    public mutating func giveWay() { fail(.crossed) }

    /// Receives any datagram. Ignores what is not the answer that this run waits for.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        guard sender == responder, let received = PairingMessage(parsing: datagram),
            received.initiator == message.initiator
        else { return }
        switch (received.kind, state) {
        case (.challenge, .asking): share(received.responder, at: now)
        case (_, .asking), (_, .idle): break
        case _ where received.responder != message.responder: break
        case (.shareReply, .sharing(let cpace)): prove(cpace, datagram, at: now)
        case (.link, .proving(let keys)): finish(keys, datagram, at: now)
        case (.link, .done(let keys)) where keys.responderTag.isTag(of: datagram): isDue = true
        case (.refusal, .sharing), (.refusal, .proving): refuse(datagram)
        default: break
        }
    }

    /// Must be called at `nextDeadline`; an earlier call does nothing.
    public mutating func timeElapsed(at now: Instant) {
        guard let due = repetition, min(due, end) <= now else { return }
        if case .done = state {
            receiptsLeft -= 1
            isDue = receiptsLeft > 0
            repetition = isDue ? now + Self.interval : nil
        } else if end <= now {
            fail(.noAnswer)
        } else {
            isDue = true
            repetition = now + Self.interval
        }
    }

    /// Appends the next datagram for `responder`, at most 52 bytes. Returns false if there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Bool {
        guard isDue, buffer.freeCapacity >= datagram.count else { return false }
        isDue = false
        buffer.append(datagram.span)
        return true
    }

    public mutating func nextEvent() -> Event? {
        defer { event = nil }
        return event
    }

    private mutating func share(_ responderNumber: UInt64, at now: Instant) {
        guard let words else { return }
        message.responder = responderNumber
        let scalar = SecretBytes(count: CPace.scalarByteCount, using: &generator)
        let cpace = CPace(
            password: words.password, channel: PairingKeys.channel, session: message.session, scalar: scalar)
        state = .sharing(cpace)
        message.kind = .share
        transmit(message.bytes(cpace.share), at: now)
    }

    private mutating func prove(_ cpace: CPace, _ reply: Span<UInt8>, at now: Instant) {
        let other = reply.extracting(PairingMessage.headerByteCount...)
        guard let key = cpace.key(with: other, as: .initiator) else { return }
        let keys = PairingKeys(
            key, session: message.session, initiatorShare: cpace.share, responderShare: other.indices.map { other[$0] })
        state = .proving(keys)
        // From here on a false responder can check its guess.
        guessesLeft -= 1
        message.kind = .confirmation
        transmit(message.bytes(keys.initiatorTag.withBytes { tag in tag.indices.map { tag[$0] } }), at: now)
    }

    private mutating func finish(_ keys: PairingKeys, _ datagram: Span<UInt8>, at now: Instant) {
        guard keys.responderTag.isTag(of: datagram) else { return fail(.wrongWords) }
        guard let bytes = keys.openedLink(datagram) else { return }
        do throws(ChannelLinkError) {
            event = .paired(try ChannelLink(parsing: bytes.span))
        } catch {
            return fail(.badLink(error))
        }
        state = .done(keys)
        message.kind = .receipt
        transmit(keys.receipt(message), at: now)
        receiptsLeft = Self.receiptCount
    }

    private mutating func refuse(_ datagram: Span<UInt8>) {
        switch PairingRefusal(rawValue: datagram[PairingMessage.headerByteCount]) {
        case .wrongWords:
            let othersLeft = Int(datagram[PairingMessage.headerByteCount + 1])
            guard othersLeft > 0 else { return fail(.guessedTooOften) }
            fail(.wrongWords, atMost: othersLeft)
        case .void: fail(.void)
        case nil: break
        }
    }

    private mutating func transmit(_ bytes: [UInt8], at now: Instant) {
        datagram = bytes
        isDue = true
        repetition = now + Self.interval
        end = now + Self.patience
    }

    private mutating func fail(_ reason: PairingFailure, atMost othersLeft: Int = Self.guessCount) {
        state = .idle
        repetition = nil
        isDue = false
        event = .failed(reason, guessesLeft: min(guessesLeft, othersLeft))
    }
}

/// The reason why a run of pairing has failed.
public enum PairingFailure: Hashable, Sendable, CustomStringConvertible {
    /// Nobody answers, or the other end does not know of pairing.
    case noAnswer
    /// The two ends have different words: a word was misheard, or somebody between them tried to guess.
    case wrongWords
    /// The two ends have different words, and this guess was the last one that the other end permits at them.
    case guessedTooOften
    /// The words no longer hold at the other end: they were used, or guessed at too often.
    case void
    /// The other end has typed the words of this one at the same time, and its run goes first.
    case crossed
    /// The other end knows the words, but what it sent is no link of a channel.
    case badLink(ChannelLinkError)

    public var description: String {
        switch self {
        case .noAnswer: "no answer to the pairing; is the other end still waiting, and is its address right?"
        case .wrongWords:
            "the words differ from those of the other end: one was misheard, or somebody between you guessed at them"
        case .guessedTooOften: "wrong words again: the words of the other station no longer hold"
        case .crossed:
            "the other person has typed the words of this station at the same time, and they are checked first"
        case .void: "these words no longer hold at the other end; let it show new ones"
        case .badLink(let error): "the other end sent something other than a channel's link: \(error)"
        }
    }
}
