internal import TenfourAudioCore

/// Renews a member's lease, and probes the relay if it has sent nothing for 500 ms although media is expected. A member
/// that is watchful, because it knows other relays, always expects something.
struct LeaseKeepalive: Sendable {
    var isWatchful: Bool
    /// The time at which the lease ends unless the relay answers a renewal.
    private var end: Instant
    /// The time at which the next renewal is due.
    private var renewal: Instant
    /// The time at which the relay is probed if it remains silent; nil if no media is expected, or the probe has begun.
    private var suspicion: Instant?
    private var probe: Probe?
    /// The time at which a relay that counts as lost is probed again, because something of it has arrived; nil if nothing
    /// has.
    private var returned: Instant?
    /// The last probe that was not answered in time.
    private var unanswered: Probe?
    private var lastHeard: Instant
    private var shortestRoundTrip: Duration?
    /// The time from the latest renewal that was answered to its answer, at least the round trip; nil if the latest answer
    /// was to an earlier one.
    private(set) var latestRoundTrip: Duration?
    /// Whether the relay counts as lost: it has answered none of the probes, and the member joins again.
    private(set) var isLost = false
    /// Whether the relay has answered a renewal in this session.
    var hasAnswered: Bool { shortestRoundTrip != nil }

    private struct Probe: Sendable {
        var token: UInt64
        var began: Instant
        var sentCount = 0
        var due: Instant
    }

    enum Step {
        case nothing
        /// A renewal must be sent.
        case renew(token: UInt64)
        /// The relay has answered none of the probes.
        case lost
        /// The lease has ended.
        case over
    }

    static let renewalInterval = Duration.seconds(10)
    static let longestSilence = Duration.milliseconds(500)
    static let probeSpread = Duration.milliseconds(100)
    static let probeInterval = Duration.milliseconds(200)
    static let maximumProbeCount = 3
    /// A watchful member probes more often: it probes a relay with little to say all the time, and must not take a few
    /// lost datagrams for the relay's end.
    static let watchfulProbeInterval = Duration.milliseconds(150)
    static let watchfulProbeCount = 5
    /// The time to wait for the answer to a renewal. Without an answer in this time, the relay is probed.
    private static let renewalPatience = Duration.seconds(1)

    /// Begins the lease of a new session; its first renewal is due immediately.
    init(lease: Duration, isWatchful: Bool, token: UInt64, at now: Instant) {
        self.isWatchful = isWatchful
        end = now + lease
        renewal = now + Self.renewalInterval
        lastHeard = now
        probe = Probe(token: token, began: now, due: now)
    }

    var deadline: Instant {
        if isLost { return min(min(returned ?? end, probe?.due ?? end), end) }
        return min(min(renewal, suspicion ?? renewal), min(probe?.due ?? renewal, end))
    }

    mutating func step(at now: Instant, using generator: inout some RandomNumberGenerator) -> Step {
        if end <= now { return .over }
        if isLost { return stepOfLost(at: now, using: &generator) }
        if let suspicion, suspicion <= now {
            self.suspicion = nil
            // Begins the probe after a random delay, so that the members who hear one talker do not all probe at the
            // same time.
            beginProbe(at: now + Self.probeSpread * Double.random(in: 0...1, using: &generator), now, using: &generator)
        }
        if renewal <= now {
            renewal = now + Self.renewalInterval
            if probe == nil {
                probe = Probe(
                    token: .random(in: 0 ... .max, using: &generator), began: now, due: now + Self.renewalPatience)
                return probe.map { .renew(token: $0.token) } ?? .nothing
            }
        }
        return stepOfProbe(at: now)
    }

    /// Probes a relay that counts as lost when it sends to us again: it still knows our session, and its answer ends the new
    /// attempt to join.
    private mutating func stepOfLost(at now: Instant, using generator: inout some RandomNumberGenerator) -> Step {
        if let returned, returned <= now {
            self.returned = nil
            beginProbe(at: now, now, using: &generator)
        }
        return stepOfProbe(at: now)
    }

    private mutating func stepOfProbe(at now: Instant) -> Step {
        guard let probe, probe.due <= now else { return .nothing }
        let maximumCount = isWatchful ? Self.watchfulProbeCount : Self.maximumProbeCount
        if probe.sentCount < maximumCount {
            let isLast = probe.sentCount == maximumCount - 1
            let roundTrip = isLast ? shortestRoundTrip.map { $0 * 3 / 2 } ?? .zero : .zero
            self.probe?.sentCount += 1
            self.probe?.due = now + max(isWatchful ? Self.watchfulProbeInterval : Self.probeInterval, roundTrip)
            return .renew(token: probe.token)
        }
        unanswered = probe
        self.probe = nil
        guard !isLost else { return .nothing }
        // Does not count the relay as lost if a packet or record has arrived since the probe began. The relay still
        // sends to us, so only its answers were lost. The next renewal is due after 1 s.
        guard lastHeard <= probe.began else {
            renewal = now + Self.renewalPatience
            return .nothing
        }
        isLost = true
        return .lost
    }

    /// Probes the relay immediately if it has been silent for 500 ms, or if a probe is planned already. Call this when
    /// UNKNOWN SESSION arrives. This datagram reports that the relay does not know our session, but it is not
    /// authenticated.
    mutating func doubt(at now: Instant, using generator: inout some RandomNumberGenerator) {
        guard !isLost, now - lastHeard >= Self.longestSilence || probe != nil else { return }
        beginProbe(at: now, now, using: &generator)
    }

    private mutating func beginProbe(
        at moment: Instant, _ now: Instant, using generator: inout some RandomNumberGenerator
    ) {
        if let probe {
            // Moves a planned probe to `moment`, if this is earlier. If the probe was already sent, the time to wait
            // for its answer does not change.
            if probe.sentCount == 0 { self.probe?.due = min(probe.due, moment) }
        } else {
            probe = Probe(token: .random(in: 0 ... .max, using: &generator), began: now, due: moment)
        }
    }

    /// Expects media from now on, because we or another member talk. The relay is probed if it is silent for 500 ms.
    mutating func talkContinues(at now: Instant) {
        if suspicion == nil, probe == nil, !isLost { suspicion = now + Self.longestSilence }
    }

    /// Records that a packet of another member arrived.
    mutating func mediaReceived(at now: Instant) {
        heard(at: now)
        suspicion = now + Self.longestSilence
    }

    /// Records that a record of the relay arrived. While media is expected, and always if the member is watchful, the
    /// relay is probed if it is silent for the next 500 ms.
    mutating func recordReceived(at now: Instant) {
        heard(at: now)
        if suspicion != nil || isWatchful { suspicion = now + Self.longestSilence }
    }

    private mutating func heard(at now: Instant) {
        lastHeard = now
        guard isLost, probe == nil else { return }
        returned = returned ?? max(now, unanswered.map { $0.began + Self.renewalPatience } ?? now)
    }

    /// Handles the answer to a renewal. Returns whether the relay was considered lost until this answer.
    mutating func renewed(token: UInt64, lease: Duration, at now: Instant) -> Bool {
        recordReceived(at: now)
        end = now + lease
        latestRoundTrip = unanswered.flatMap { $0.token == token ? now - $0.began : nil }
        if let probe, probe.token == token {
            let roundTrip = now - probe.began
            latestRoundTrip = roundTrip
            shortestRoundTrip = min(shortestRoundTrip ?? roundTrip, roundTrip)
            self.probe = nil
            renewal = now + Self.renewalInterval
        }
        defer { (isLost, returned) = (false, nil) }
        return isLost
    }
}
