internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// Joins a relay: repeats HELLO and JOIN until the relay answers, at one endpoint after another, with growing pauses.
struct JoinHandshake: Sendable {
    /// The attempt to join that is in progress. During a pause, it is the previous attempt; nil if there is none.
    private(set) var attempt: Attempt?
    /// The latest attempt to join at each endpoint that was tried before the endpoint of `attempt`. A slow relay may
    /// still answer an earlier attempt.
    private var earlier: [Attempt] = []
    /// The endpoint of the latest attempt to join, kept after the attempt has ended.
    private var lastEndpoint: Endpoint?
    private var isPausing = false
    /// The time at which the next HELLO or JOIN is due; nil while we are not joining.
    private(set) var deadline: Instant?
    private var sentCount = 0
    /// The number of attempts to join that have timed out since the list of endpoints changed. This number modulo the
    /// length of the list is the index of the current endpoint.
    private var turn = 0
    private var backoff = Backoff(first: .seconds(1), longest: Self.longestPause, spread: 0.5...1.5)

    /// An attempt to join at one endpoint of the relay.
    struct Attempt: Sendable {
        let endpoint: Endpoint
        var joinAttempt: JoinAttempt
    }

    static let interval = Duration.milliseconds(250)
    static let maximumSendCount = 4
    /// The longest pause between two attempts to join, before it is multiplied by a random factor of 0.5 to 1.5. It is
    /// short, so that a relay that has restarted is found soon.
    static let longestPause = Duration.seconds(4)
    /// The pause after a refusal for the reason `refused` or `rekeyed`, before it is multiplied by a random factor of
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

    /// Returns to the first endpoint, because the list of endpoints has changed. If we are joining, begins again
    /// immediately.
    mutating func endpointsChanged(at now: Instant) {
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
        lastEndpoint == endpoint || earlier.contains { $0.endpoint == endpoint }
    }

    /// Sets the next pause between two attempts to join back to 1 s. Call this when the relay has answered a renewal.
    mutating func hasSucceeded() { backoff.succeeded() }

    /// Returns whether a HELLO or JOIN is due. If so, the caller must call `write`. Begins a new attempt to join, or a
    /// pause, if the last attempt has had no answer.
    mutating func isDue(
        _ configuration: ChannelConfiguration, at now: Instant, using generator: inout CSPRNG
    ) -> Bool {
        guard let deadline, deadline <= now else { return false }
        let isOver = attempt != nil && !isPausing && sentCount == Self.maximumSendCount
        if isOver {
            turn += 1
            // Pauses after the last endpoint of the list, and after an attempt that has received a cookie. The relay
            // that sent the cookie may only be slow, so its WELCOME is accepted during the pause.
            if attempt?.joinAttempt.hasCookie ?? false || turn.isMultiple(of: configuration.endpoints.count) {
                rest(at: now, using: &generator)
                return false
            }
        }
        if attempt == nil || isPausing || isOver {
            isPausing = false
            if let attempt { earlier.append(attempt) }
            let endpoint = configuration.endpoints[turn % configuration.endpoints.count]
            earlier.removeAll { $0.endpoint == endpoint }
            lastEndpoint = endpoint
            attempt = Attempt(
                endpoint: endpoint,
                joinAttempt: JoinAttempt(configuration.joinKey, relay: configuration.relay, using: &generator))
            sentCount = 0
        }
        said(at: now)
        return true
    }

    private mutating func said(at now: Instant) {
        sentCount += 1
        deadline = now + Self.interval
    }

    /// Passes a datagram from `endpoint` to the attempt at this endpoint, and returns the result. After a cookie, this
    /// attempt becomes the current one, and the caller must call `writeJoin` immediately.
    mutating func receive(_ datagram: Span<UInt8>, from endpoint: Endpoint, at now: Instant) -> JoinAttempt.Answer {
        if let place = earlier.firstIndex(where: { $0.endpoint == endpoint }) {
            let answer = earlier[place].joinAttempt.receive(datagram)
            guard case .cookie = answer else { return answer }
            let slow = earlier.remove(at: place)
            if let attempt { earlier.append(attempt) }
            attempt = slow
            lastEndpoint = endpoint
            begunSaying(at: now)
            return answer
        }
        guard attempt?.endpoint == endpoint, let answer = attempt?.joinAttempt.receive(datagram) else {
            return .nothing
        }
        if case .cookie = answer { begunSaying(at: now) }
        return answer
    }

    private mutating func begunSaying(at now: Instant) {
        isPausing = false
        sentCount = 0
        said(at: now)
    }

    /// Puts the HELLO, or all JOINs, of the current attempt into `outbox`.
    func write(to outbox: inout DatagramQueue) {
        guard let attempt else { return }
        for number in 0..<attempt.joinAttempt.datagramCount {
            outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joinAttempt.write(number, into: &$0) }
        }
    }

    /// Puts the JOIN for the latest cookie into `outbox`.
    func writeJoin(to outbox: inout DatagramQueue) {
        guard let attempt else { return }
        outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joinAttempt.write(into: &$0) }
    }

    /// Pauses after a refusal or a GOODBYE: for 1 to 4 s, or for 10 s if a person has to change something first. This
    /// time is multiplied by a random factor of 0.5 to 1.5.
    mutating func pause(for reason: Refusal.Reason, at now: Instant, using generator: inout CSPRNG) {
        switch reason {
        case .unproved, .full, .displaced, .limited, .stopping, .left: pause(at: now, using: &generator)
        case .refused, .rekeyed: pauseLong(at: now, using: &generator)
        }
    }

    /// Begins to join again after the relay was lost. The new attempt begins within 250 ms if the relay had answered in
    /// the session, or after a pause if it had not.
    mutating func rejoin(hadAnswer: Bool, at now: Instant, using generator: inout CSPRNG) {
        guard !isActive else { return }
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
        deadline = now + backoff.next(using: &generator)
    }

    /// Plans the next attempt to join after 10 s, multiplied by a random factor of 0.5 to 1.5, because a person has to
    /// change something first.
    mutating func pauseLong(at now: Instant, using generator: inout CSPRNG) {
        begin(at: now + Self.longPause * Double.random(in: 0.5...1.5, using: &generator))
    }
}
