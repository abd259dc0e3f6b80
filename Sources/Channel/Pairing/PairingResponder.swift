public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourPacing
public import TenfourSession

/// The end of a pairing that shows the words: it gives the channel's link to the one who proves to know them.
///
/// Opens no socket and reads no clock. After each input, take datagrams until nil, then events until nil, then sleep
/// until `nextDeadline`. Three wrong guesses make the words void, two through a relay, and so does the first right one.
/// Nothing is kept for an address that has not shown that it receives there, and it gets no more bytes than came from it.
public struct PairingResponder: Sendable {
    public enum Event: Hashable, Sendable {
        /// Somebody at this endpoint had other words. At zero guesses left the words are void.
        case wrongWords(from: Endpoint, guessesLeft: Int)
        /// The end at this endpoint has proved that it knows the words, and the link is on its way.
        case paired(with: Endpoint)
        /// The other end has the link.
        case delivered
        /// No receipt came within 10 s. The other end may have the link all the same.
        case undelivered
        /// More addresses try at once than can be answered, perhaps in order to prevent the pairing. `from` is the newest
        /// of them. Sent once.
        case crowded(from: Endpoint)
    }

    /// The number of wrong guesses that are still permitted.
    public private(set) var guessesLeft: Int
    private let guessCount: Int
    /// Whether the words can no longer be used: guessed at too often, or used.
    var isVoid: Bool { guessesLeft == 0 || partner != nil }
    /// The time at which `timeElapsed` must be called; nil if nothing is due.
    public var nextDeadline: Instant? { runs.map(\.end).min() }

    /// The words that are shown.
    package private(set) var words: PairingWords
    /// The link for the one who knows the words; nil if there is none yet.
    package private(set) var link: ChannelLink?
    /// Whether no run may begin before `offer`, because the words are new and the link is that of the former number.
    private var awaitsLink = false
    private let challenge: AddressChallenge
    private var generator: CSPRNG
    package private(set) var runs: [Run] = []
    private var partner: Endpoint?
    private var proofs = TokenBucket(perSecond: 10, most: 10)
    /// The addresses that have begun a run in the last `shareInterval`.
    private var recent: [(address: IPAddress, at: Instant)] = []
    private var isCrowded = false
    private var outbox: [(to: Endpoint, datagram: [UInt8])] = []
    private var events: [Event] = []

    package struct Run: Sendable {
        let endpoint: Endpoint
        package let message: PairingMessage
        let initiatorShare: [UInt8]
        let share: [UInt8]
        package let keys: PairingKeys
        let end: Instant
        var state = State.open

        enum State: Equatable {
            case open, proved
            case wrong(guessesLeft: Int)
        }
    }

    public static let guessCount = 3
    /// The number of guesses through a relay, which passes on two runs of one host with one number.
    package static let guessCountAtRelay = 2
    static let maximumRunCount = 4
    static let runTime = Duration.seconds(10)
    /// The least time between two runs that one address begins. So one host cannot use up what is computed for all.
    static let shareInterval = Duration.milliseconds(500)
    private static let maximumOutboxCount = 8
    private static let maximumEventCount = 16

    /// Without a link, nobody is answered before `offer`. `generator` must be unpredictable: the system's generator,
    /// outside tests.
    public init(
        _ words: PairingWords, link: ChannelLink?, guessCount: Int = Self.guessCount,
        using generator: inout some RandomNumberGenerator
    ) {
        self.words = words
        self.guessCount = guessCount
        guessesLeft = guessCount
        challenge = AddressChallenge(using: &generator)
        self.generator = CSPRNG(using: &generator)
        if let link { offer(link) }
    }

    /// The one who proves to know the words gets this link. Returns false, and changes nothing, if the words are void:
    /// somebody may have the present link.
    @discardableResult
    public mutating func offer(_ link: ChannelLink) -> Bool {
        guard !isVoid else { return false }
        self.link = link
        awaitsLink = false
        return true
    }

    /// Shows other words from now on, which may be guessed at as often as the first ones. No run begins before `offer`,
    /// so that the former number leads to none. Does nothing if the present words have been used.
    package mutating func renew(_ words: PairingWords) {
        guard partner == nil else { return }
        self.words = words
        guessesLeft = guessCount
        awaitsLink = true
        runs.removeAll { $0.state == .open }
    }

    /// Receives any datagram. Ignores what is no message of pairing, or has no meaning in the present state.
    ///
    /// `rival` is the number of the run in which this station's person has typed the words of the sender; nil if there is
    /// none. Of two such runs only the one with the lower number goes on, so that they do not make two channels. Returns
    /// whether that is the sender's: then the rival must give way.
    @discardableResult
    public mutating func receive(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, rival: UInt64? = nil
    ) -> Bool {
        guard link != nil, let received = PairingMessage(parsing: datagram) else { return false }
        let number = challenge.number(for: received.initiator, at: PeerAddress(sender))
        if received.kind == .hello {
            guard !awaitsLink else { return false }
            var answer = received
            answer.kind = .challenge
            answer.responder = number
            send(answer.bytes(), to: sender)
            return false
        }
        // Only somebody who receives at the address knows the number.
        guard received.responder == number else { return false }
        let isCrossing = rival != nil && !isVoid && [.share, .confirmation].contains(received.kind)
        if isCrossing, let rival, received.initiator >= rival { return false }
        let place = runs.firstIndex { $0.endpoint == sender && $0.message.initiator == received.initiator }
        if awaitsLink, received.kind == .share, place == nil { return false }
        switch (received.kind, place) {
        case (.share, let place?): repeatShare(runs[place], datagram)
        case (.share, nil): begin(received, datagram, from: sender, at: now)
        case (.confirmation, let place?): check(datagram, ofRunAt: place)
        case (.receipt, let place?) where runs[place].state == .proved && runs[place].keys.isReceipt(datagram):
            runs.remove(at: place)
            report(.delivered)
        default: break
        }
        return isCrossing
    }

    /// Must be called at `nextDeadline`; an earlier call does nothing.
    public mutating func timeElapsed(at now: Instant) {
        for run in runs where run.end <= now && run.state == .proved { report(.undelivered) }
        runs.removeAll { $0.end <= now }
    }

    /// Appends the next datagram, at most 1092 bytes, and returns where it goes; nil if there is none.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>) -> Endpoint? {
        guard let next = outbox.first, buffer.freeCapacity >= next.datagram.count else { return nil }
        outbox.removeFirst()
        buffer.append(next.datagram.span)
        return next.to
    }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    private mutating func begin(
        _ received: PairingMessage, _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant
    ) {
        timeElapsed(at: now)
        guard !isVoid else { return refuse(.void, received, to: sender) }
        recent.removeAll { now - $0.at >= Self.shareInterval }
        guard !recent.contains(where: { $0.address == sender.address }) else { return }
        guard proofs.spend(1, at: now) else { return reportCrowd(from: sender) }
        recent.append((sender.address, now))
        let scalar = SecretBytes(count: CPace.scalarByteCount, using: &generator)
        let cpace = CPace(
            password: words.password, channel: PairingKeys.channel, session: received.session, scalar: scalar)
        let other = datagram.extracting(PairingMessage.headerByteCount...)
        guard let key = cpace.key(with: other, as: .responder) else { return }
        let otherShare = other.indices.map { other[$0] }
        let keys = PairingKeys(
            key, session: received.session, initiatorShare: otherShare, responderShare: cpace.share)
        // An address has one run, and the oldest run makes room.
        runs.removeAll { $0.endpoint.address == sender.address }
        if runs.count >= Self.maximumRunCount, runs.removeFirst().state == .open { reportCrowd(from: sender) }
        let run = Run(
            endpoint: sender, message: received, initiatorShare: otherShare, share: cpace.share, keys: keys,
            end: now + Self.runTime)
        runs.append(run)
        repeatShare(run, datagram)
    }

    /// Sends the share of a run, as the reply to a SHARE with the share that began it.
    private mutating func repeatShare(_ run: Run, _ datagram: Span<UInt8>) {
        let other = datagram.extracting(PairingMessage.headerByteCount...)
        guard run.state == .open, run.initiatorShare == other.indices.map({ other[$0] }) else { return }
        var message = run.message
        message.kind = .shareReply
        send(message.bytes(run.share), to: run.endpoint)
    }

    private mutating func check(_ datagram: Span<UInt8>, ofRunAt place: Int) {
        if runs[place].state == .open {
            guard !isVoid else { return refuse(.void, runs[place].message, to: runs[place].endpoint) }
            if runs[place].keys.initiatorTag.isTag(of: datagram) {
                runs[place].state = .proved
                partner = runs[place].endpoint
                report(.paired(with: runs[place].endpoint))
            } else {
                // The run is over: a repeated datagram costs no further guess.
                guessesLeft -= 1
                runs[place].state = .wrong(guessesLeft: guessesLeft)
                report(.wrongWords(from: runs[place].endpoint, guessesLeft: guessesLeft))
            }
        }
        let run = runs[place]
        if case .wrong(let left) = run.state {
            return refuse(.wrongWords, run.message, to: run.endpoint, guessesLeft: left)
        }
        guard run.state == .proved, run.keys.initiatorTag.isTag(of: datagram), let link else {
            return refuse(.wrongWords, run.message, to: run.endpoint)
        }
        var message = run.message
        message.kind = .link
        let text = Array(link.text().utf8)
        precondition(text.count <= ChannelLink.maximumByteCount, "a link is never longer than it may be")
        send(run.keys.link(text, message), to: run.endpoint)
    }

    /// `left`: the count to send; nil for the present one.
    private mutating func refuse(
        _ reason: PairingRefusal, _ message: PairingMessage, to endpoint: Endpoint, guessesLeft left: Int? = nil
    ) {
        var answer = message
        answer.kind = .refusal
        send(answer.bytes([reason.rawValue, UInt8(left ?? guessesLeft), 0, 0]), to: endpoint)
    }

    private mutating func send(_ datagram: [UInt8], to endpoint: Endpoint) {
        guard outbox.count < Self.maximumOutboxCount else { return }
        outbox.append((endpoint, datagram))
    }

    private mutating func reportCrowd(from endpoint: Endpoint) {
        guard !isCrowded else { return }
        isCrowded = true
        report(.crowded(from: endpoint))
    }

    private mutating func report(_ event: Event) {
        guard events.count < Self.maximumEventCount else { return }
        events.append(event)
    }
}
