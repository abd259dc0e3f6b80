internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// Joins one of several relays: sends HELLO to one after another until a relay answers, and JOIN to that relay, with
/// growing pauses.
struct JoinHandshake: Sendable {
    /// The attempt to join that is in progress. During a pause, it is the previous attempt; nil if there is none.
    private(set) var attempt: Attempt?
    /// The latest attempts to join at other relays than that of `attempt`. A slow relay may still answer one.
    private var earlier: [Attempt] = []
    /// The endpoint of the latest attempt to join, kept after the attempt has ended.
    private var lastEndpoint: Endpoint?
    private var isPausing = false
    /// The time at which the next HELLO or JOIN is due; nil while we are not joining.
    private(set) var deadline: Instant?
    /// The number of HELLOs sent since the last pause, or of JOINs sent since the last COOKIE.
    private var sentCount = 0
    /// Whether each relay has been asked as often as between two pauses, after the HELLO that is due.
    private var isLastRound = false
    /// The index of the relay that is tried first, modulo the number of relays.
    private var turn = 0
    /// The number of relays that have been given up since the last pause.
    private var givenUpCount = 0
    private var backoff = Backoff(first: .seconds(1), longest: Self.longestPause, spread: 0.5...1.5)
    /// The time until which pauses are short, because a relay that had answered was lost: the network may be back at any
    /// moment, and somebody waits to hear again.
    private var shortPauseEnd: Instant?

    /// An attempt to join one relay.
    struct Attempt: Sendable {
        let relay: RelayCandidate
        var joinAttempt: JoinAttempt
    }

    static let interval = Duration.milliseconds(250)
    static let maximumSendCount = 4
    /// The longest pause between two attempts to join, before it is multiplied by a random factor of 0.5 to 1.5. It is
    /// short, so that a relay that has restarted is found soon.
    static let longestPause = Duration.seconds(4)
    /// The longest of the short pauses after the loss of a relay, with its random factor, and the time in which they are
    /// used.
    private static let shortPause = Duration.milliseconds(600)
    private static let shortPauses = Duration.seconds(120)
    /// The pause after a refusal for the reason `refused`, `rekeyed` or `notAdmitted`, before it is multiplied by a random factor of
    /// 0.5 to 1.5. It is long, because a person has to change something first.
    static let longPause = Duration.seconds(10)

    var isActive: Bool { deadline != nil }
    /// Whether an attempt to join has failed since the relay last answered a renewal. A refusal for the reason
    /// `refused` or `rekeyed` does not count as a failure.
    var hasFailed: Bool { backoff.count > 0 }

    /// Begins to join at `moment`.
    mutating func begin(at moment: Instant) {
        forgetAttempts()
        isPausing = false
        deadline = moment
    }

    /// Returns to the first relay, because the list of relays has changed. If we are joining, begins again immediately.
    mutating func relaysChanged(at now: Instant) {
        turn = 0
        if isActive { begin(at: now) }
    }

    /// Stops joining.
    mutating func end() {
        forgetAttempts()
        deadline = nil
    }

    private mutating func forgetAttempts() {
        attempt = nil
        earlier.removeAll()
    }

    /// Whether joining was tried at `endpoint`. Only then can an answer come from this endpoint.
    func hasTried(_ endpoint: Endpoint) -> Bool {
        lastEndpoint == endpoint || earlier.contains { $0.relay.endpoint == endpoint }
    }

    /// Sets the next pause between two attempts to join back to 1 s, and tries `relay` first next time. Call this when
    /// this relay has answered a renewal.
    mutating func succeeded(at relay: RelayCandidate, of relays: [RelayCandidate]) {
        backoff.succeeded()
        givenUpCount = 0
        turn = relays.firstIndex(of: relay) ?? 0
    }

    /// Returns whether a HELLO or JOIN is due. If so, the caller must call `write`. Begins a new attempt to join, or a
    /// pause, if the last attempt has had no answer.
    mutating func isDue(
        _ configuration: ChannelConfiguration, at now: Instant, using generator: inout CSPRNG
    ) -> Bool {
        guard let deadline, deadline <= now else { return false }
        let hasCookie = attempt?.joinAttempt.hasCookie ?? false
        let relays = configuration.relays
        if attempt != nil, !isPausing, sentCount >= Self.maximumSendCount * (hasCookie ? 1 : relays.count) {
            // The relay that sent a cookie may only be slow, so its WELCOME is accepted during the pause.
            if hasCookie, let tried = attempt?.relay { passOver(tried, relays) }
            rest(at: now, using: &generator)
            if let end = shortPauseEnd, now < end {
                self.deadline = now + Self.shortPause * Double.random(in: 0.3...1, using: &generator)
            }
            return false
        }
        if attempt == nil || isPausing {
            isPausing = false
            sentCount = 0
            tryNext(configuration, using: &generator)
        } else if !hasCookie, relays.count > 1 {
            tryNext(configuration, using: &generator)
        }
        said(at: now)
        isLastRound = sentCount > (Self.maximumSendCount - 1) * relays.count
        return true
    }

    /// Continues with the relay whose turn it is: with a new attempt in the first round since the last pause, and
    /// otherwise with the attempt of the first round.
    private mutating func tryNext(_ configuration: ChannelConfiguration, using generator: inout CSPRNG) {
        if let attempt { earlier.append(attempt) }
        let relay = configuration.relays[(turn + sentCount) % configuration.relays.count]
        let place = earlier.firstIndex { $0.relay == relay }
        let known = place.map { earlier.remove(at: $0) }
        lastEndpoint = relay.endpoint
        if sentCount >= configuration.relays.count, let known {
            attempt = known
        } else {
            attempt = Attempt(
                relay: relay, joinAttempt: configuration.joinAttempt(at: relay, using: &generator))
        }
    }

    private mutating func said(at now: Instant) {
        sentCount += 1
        deadline = now + Self.interval
    }

    /// Passes a datagram from `endpoint` to the attempts at this endpoint, and returns the result. The attempt that is
    /// answered becomes the current one. After a cookie, the caller must call `writeJoin` immediately.
    mutating func receive(_ datagram: Span<UInt8>, from endpoint: Endpoint, at now: Instant) -> JoinAttempt.Answer {
        var answer = JoinAttempt.Answer.nothing
        if attempt?.relay.endpoint == endpoint { answer = attempt?.joinAttempt.receive(datagram) ?? .nothing }
        for place in earlier.indices where answer.isNothing && earlier[place].relay.endpoint == endpoint {
            answer = earlier[place].joinAttempt.receive(datagram)
            guard answer.isProof else { continue }
            let slow = earlier.remove(at: place)
            if let attempt { earlier.append(attempt) }
            attempt = slow
            lastEndpoint = endpoint
            break
        }
        if case .cookie = answer { begunSaying(at: now) }
        return answer
    }

    private mutating func begunSaying(at now: Instant) {
        isPausing = false
        sentCount = 0
        said(at: now)
    }

    /// Puts the HELLO, or all JOINs, of the current attempt into `outbox`. If a relay that must prove itself answers none of
    /// our questions, the last one also is a question that relays without a key answer.
    func write(to outbox: inout DatagramQueue) {
        guard let attempt else { return }
        for number in 0..<attempt.joinAttempt.datagramCount {
            put(number, of: attempt, into: &outbox)
        }
        guard isLastRound, attempt.joinAttempt.demandsRelayKey, !attempt.joinAttempt.hasCookie else { return }
        outbox.put(capacity: JoinAttempt.maximumByteCount, to: attempt.relay.endpoint) {
            attempt.joinAttempt.writeHello(into: &$0)
        }
    }

    private func put(_ number: Int, of attempt: Attempt, into outbox: inout DatagramQueue) {
        outbox.put(capacity: JoinAttempt.maximumByteCount, to: attempt.relay.endpoint) {
            attempt.joinAttempt.write(number, into: &$0)
        }
    }

    /// Puts the JOIN for the latest cookie into `outbox`.
    func writeJoin(to outbox: inout DatagramQueue) {
        guard let attempt else { return }
        put(attempt.joinAttempt.datagramCount - 1, of: attempt, into: &outbox)
    }

    /// Gives up a relay, and begins at the next one within 250 ms. Returns false, and begins nothing, if all relays
    /// have been given up since the last pause; the caller must then call `pause`.
    mutating func changeOver(
        from relay: RelayCandidate, _ relays: [RelayCandidate], at now: Instant, using generator: inout CSPRNG
    ) -> Bool {
        passOver(relay, relays)
        givenUpCount += 1
        guard givenUpCount < relays.count else { return false }
        begin(at: now + Self.rejoinSpread * Double.random(in: 0...1, using: &generator))
        return true
    }

    private mutating func passOver(_ relay: RelayCandidate, _ relays: [RelayCandidate]) {
        if let place = relays.firstIndex(of: relay) { turn = place + 1 }
    }

    /// Pauses after a refusal or a GOODBYE: for 1 to 4 s, or for 10 s if a person has to change something first. This
    /// time is multiplied by a random factor of 0.5 to 1.5.
    mutating func pause(for reason: Refusal.Reason, at now: Instant, using generator: inout CSPRNG) {
        switch reason {
        case .unproved, .full, .displaced, .limited, .stopping, .left: pause(at: now, using: &generator)
        case .refused, .rekeyed, .notAdmitted: pauseLong(at: now, using: &generator)
        }
    }

    /// Begins to join again after `relay` was lost, with the next relay if there are several. The new
    /// attempt begins within 250 ms if the relay had answered in the session, or after a pause if no relay does.
    mutating func rejoin(
        from relay: RelayCandidate, _ relays: [RelayCandidate], hadAnswer: Bool, at now: Instant,
        using generator: inout CSPRNG
    ) {
        guard !isActive else { return }
        if hadAnswer { (givenUpCount, shortPauseEnd) = (0, now + Self.shortPauses) }
        if relays.count > 1, changeOver(from: relay, relays, at: now, using: &generator) { return }
        if hadAnswer {
            begin(at: now + Self.rejoinSpread * Double.random(in: 0...1, using: &generator))
        } else {
            pause(at: now, using: &generator)
        }
    }

    /// The period over which the members of a lost relay spread their new attempts to join.
    private static let rejoinSpread = Duration.milliseconds(250)

    /// Ends the attempt to join, and plans the next one after 1, 2, 4, 4 … s, multiplied by a random factor of 0.5 to
    /// 1.5.
    mutating func pause(at now: Instant, using generator: inout CSPRNG) {
        forgetAttempts()
        rest(at: now, using: &generator)
    }

    private mutating func rest(at now: Instant, using generator: inout CSPRNG) {
        isPausing = true
        givenUpCount = 0
        deadline = now + backoff.next(using: &generator)
    }

    /// Plans the next attempt to join after 10 s, multiplied by a random factor of 0.5 to 1.5, because a person has to
    /// change something first.
    mutating func pauseLong(at now: Instant, using generator: inout CSPRNG) {
        givenUpCount = 0
        begin(at: now + Self.longPause * Double.random(in: 0.5...1.5, using: &generator))
    }
}

extension JoinAttempt.Answer {
    fileprivate var isNothing: Bool { if case .nothing = self { true } else { false } }

    /// Whether only the relay can have answered so, or an attacker on the path to it.
    fileprivate var isProof: Bool {
        switch self {
        case .cookie, .welcome: true
        case .refusal(let reason): reason != .unproved
        case .doubt, .nothing: false
        }
    }
}
