internal import TenfourAudioCore
public import TenfourChannelKeys

/// The ways by which media goes to a member.
public enum DirectRoute: Hashable, Sendable {
    case relay
    /// By both, because the address has proved itself only now.
    case relayAndDirect(PeerAddress)
    case direct(PeerAddress)

    /// The direct address; nil if media goes by the relay only.
    public var address: PeerAddress? {
        switch self {
        case .relay: nil
        case .relayAndDirect(let address), .direct(let address): address
        }
    }
}

/// The reasons why something of the direct way was ignored; each is counted.
public enum DirectDiscard: Hashable, Sendable, CaseIterable {
    case malformed
    /// The sender is not among the members that are present and allow a direct way.
    case notAMember
    /// The member of this index has not sealed the candidates, or has not made the probe.
    case forged
    /// The counter is not new, or the candidates are those of a former run.
    case replayed
    /// A candidate, or the source of a probe, to which nothing may be sent.
    case forbiddenCandidate
    /// A candidate in a network that is not known to be that of both members.
    case candidateElsewhere
    /// An echo that answers no probe which was sent to this address.
    case unexpectedEcho
    /// Something was not sent because of the bounds of `ProbeBudget`.
    case boundReached
    /// More probes than are checked.
    case tooMany
    /// Media from an address that no member has proved.
    case stranger
}

/// Whether media is sent or expected. Then the path to a member is watched closely.
struct MediaActivity: Hashable, Sendable {
    private(set) var since: Instant?
    private var last: Instant = .start

    static let duration: Duration = .seconds(2)

    mutating func report(at now: Instant) {
        if !isActive(at: now) { since = now }
        last = now
    }

    func isActive(at now: Instant) -> Bool { since != nil && now - last < Self.duration }
}

/// An address of a member that has answered a probe, and goes on answering (consent, RFC 7675).
struct DirectPath: Hashable, Sendable {
    let address: PeerAddress
    /// Media goes by the relay, too.
    private(set) var isWarm = true
    private let since: Instant
    private var lastEcho: Instant
    /// The latest authentic datagram from the address.
    private(set) var lastHeard: Instant
    private var lastProbe: Instant
    private var consentDue: Instant

    static let consentDuration: Duration = .seconds(15)
    static let warmDuration: Duration = .seconds(2)
    static let silenceDuration: Duration = .seconds(1)
    private static let consentPause: Duration = .seconds(5)
    /// The pause between probes while media is sent or expected, and nothing is heard.
    private static let watchPause: Duration = .milliseconds(200)

    init(_ address: PeerAddress, at now: Instant) {
        self.address = address
        (since, lastEcho, lastHeard, lastProbe) = (now, now, now, now)
        consentDue = now + Self.consentPause
    }

    mutating func heard(at now: Instant) { lastHeard = max(lastHeard, now) }

    mutating func echoed(at now: Instant) {
        lastEcho = now
        heard(at: now)
    }

    /// Whether the path may be used no longer: there is no consent, or no datagram comes while there should be some.
    func isLost(_ activity: MediaActivity, at now: Instant) -> Bool {
        now >= lastEcho + Self.consentDuration || silenceEnd(activity, at: now).map { now >= $0 } ?? false
    }

    /// Ends the time in which media goes by the relay, too.
    mutating func updateWarmth(at now: Instant) {
        if isWarm, now >= since + Self.warmDuration { isWarm = false }
    }

    /// Whether a probe is due. The next one comes 4…6 s later by `share` of 0…1, so that members do not probe in step.
    mutating func takeProbe(_ activity: MediaActivity, share: Double, at now: Instant) -> Bool {
        guard now >= probeDue(activity, at: now) else { return false }
        lastProbe = now
        consentDue = now + Self.consentPause + .milliseconds(Int64(2000 * share) - 1000)
        return true
    }

    func deadline(_ activity: MediaActivity, at now: Instant) -> Instant {
        var deadline = min(lastEcho + Self.consentDuration, probeDue(activity, at: now))
        if isWarm { deadline = min(deadline, since + Self.warmDuration) }
        if let end = silenceEnd(activity, at: now) { deadline = min(deadline, end) }
        return deadline
    }

    private func probeDue(_ activity: MediaActivity, at now: Instant) -> Instant {
        activity.isActive(at: now) ? min(consentDue, max(lastHeard, lastProbe) + Self.watchPause) : consentDue
    }

    private func silenceEnd(_ activity: MediaActivity, at now: Instant) -> Instant? {
        guard activity.isActive(at: now), let since = activity.since else { return nil }
        return max(lastHeard, since) + Self.silenceDuration
    }
}
