internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// Joins a relay: sends HELLO and JOIN again until it answers, to one endpoint after another, with growing pauses.
struct JoinHandshake: Sendable {
    /// The attempt that is being made, or was made last; nil before the first.
    private(set) var attempt: Attempt?
    /// The last attempt at each of the other endpoints: a slow relay may still answer.
    private var earlier: [Attempt] = []
    /// The endpoint of the last attempt, also when that is over.
    private var lastEndpoint: Endpoint?
    private var isPausing = false
    /// When the next HELLO or JOIN is due; nil while we do not want to join.
    private(set) var deadline: Instant?
    private var sentCount = 0
    /// Which endpoint's turn it is.
    private var turn = 0
    private var backoff = Backoff(first: .seconds(1), longest: Self.longestPause, spread: 0.5...1.5)

    /// To get in at one endpoint.
    struct Attempt: Sendable {
        let endpoint: Endpoint
        var joinAttempt: JoinAttempt
    }

    static let interval = Duration.milliseconds(250)
    static let maximumSendCount = 4
    /// The longest pause between attempts, before its random factor. A relay that comes back is found soon.
    static let longestPause = Duration.seconds(4)
    static let longPause = Duration.seconds(10)

    var isActive: Bool { deadline != nil }
    /// Whether all endpoints were asked in vain, or the relay said no.
    var hasFailed: Bool { backoff.count > 0 }

    /// Joins from `moment` on.
    mutating func begin(at moment: Instant) {
        forgetAttempts()
        isPausing = false
        deadline = moment
    }

    /// The relay may be elsewhere: whoever wants to get in begins with the first of its endpoints.
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

    /// Whether an answer may come from there.
    func hasTried(_ endpoint: Endpoint) -> Bool {
        lastEndpoint == endpoint || earlier.contains { $0.endpoint == endpoint }
    }

    /// The session works: the next pause is a short one again.
    mutating func hasSucceeded() { backoff.succeeded() }

    /// Whether a HELLO or JOIN is due; `write` writes it.
    mutating func isDue(
        _ configuration: ChannelConfiguration, at now: Instant, using generator: inout CSPRNG
    ) -> Bool {
        guard let deadline, deadline <= now else { return false }
        let isOver = attempt != nil && !isPausing && sentCount == Self.maximumSendCount
        if isOver {
            turn += 1
            // A relay that gave a cookie may only be slow: wait for its WELCOME.
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

    /// The meaning of an answer for the attempt at `endpoint`. After a cookie, something is to be said there at once, and whoever
    /// else was asked meanwhile waits.
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

    /// Puts the HELLO or JOIN of the attempt into `outbox`.
    func write(to outbox: inout DatagramQueue) {
        guard let attempt else { return }
        for number in 0..<attempt.joinAttempt.datagramCount {
            outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joinAttempt.write(number, into: &$0) }
        }
    }

    /// Puts one JOIN for the cookie that has come into `outbox`.
    func writeJoin(to outbox: inout DatagramQueue) {
        guard let attempt else { return }
        outbox.put(capacity: 128, to: attempt.endpoint) { attempt.joinAttempt.write(into: &$0) }
    }

    /// Waits after a refusal: shortly if it may pass, long if only a person can change something.
    mutating func pause(for reason: Refusal.Reason, at now: Instant, using generator: inout CSPRNG) {
        switch reason {
        case .unproved, .full, .displaced, .limited, .stopping, .left: pause(at: now, using: &generator)
        case .refused, .rekeyed: pauseLong(at: now, using: &generator)
        }
    }

    /// Begins anew after the relay was lost: with others at the same time, if it had answered.
    mutating func rejoin(hadAnswer: Bool, at now: Instant, using generator: inout CSPRNG) {
        guard !isActive else { return }
        if hadAnswer {
            begin(at: now + Self.rejoinSpread * Double.random(in: 0...1, using: &generator))
        } else {
            pause(at: now, using: &generator)
        }
    }

    /// The members that a relay has lost at once come back within this time.
    private static let rejoinSpread = Duration.milliseconds(250)

    /// This attempt is over. Begins anew after 1, 2, 4, 4 … s, each ± half by chance.
    mutating func pause(at now: Instant, using generator: inout CSPRNG) {
        forgetAttempts()
        rest(at: now, using: &generator)
    }

    private mutating func rest(at now: Instant, using generator: inout CSPRNG) {
        isPausing = true
        deadline = now + backoff.next(using: &generator)
    }

    /// Begins anew after a long pause: only a person could change anything.
    mutating func pauseLong(at now: Instant, using generator: inout CSPRNG) {
        begin(at: now + Self.longPause * Double.random(in: 0.5...1.5, using: &generator))
    }
}
