internal import TenfourAudioCore

/// Keeps a member's lease: renews it, and probes the relay when it has fallen silent.
struct LeaseKeepalive: Sendable {
    /// When the lease ends, if no renewal reaches the relay.
    private var end: Instant
    private var renewal: Instant
    /// While somebody talks: when silence of the relay becomes suspicious.
    private var suspicion: Instant?
    private var probe: Probe?
    private var lastHeard: Instant
    private var shortestRoundTrip: Duration?
    /// The relay has not answered.
    private(set) var isLost = false
    /// It has answered before.
    var hasAnswered: Bool { shortestRoundTrip != nil }

    private struct Probe: Sendable {
        var token: UInt64
        var began: Instant
        var sentCount = 0
        var due: Instant
    }

    enum Step {
        case nothing
        /// A renewal is due.
        case renew(token: UInt64)
        /// No probe was answered.
        case lost
        /// The lease is over.
        case over
    }

    static let renewalInterval = Duration.seconds(10)
    static let longestSilence = Duration.milliseconds(500)
    static let probeSpread = Duration.milliseconds(100)
    static let probeInterval = Duration.milliseconds(200)
    static let maximumProbeCount = 3
    /// How long a renewal may go unanswered while nobody talks.
    private static let renewalPatience = Duration.seconds(1)

    /// A session begins; its first renewal is due at once.
    init(lease: Duration, token: UInt64, at now: Instant) {
        end = now + lease
        renewal = now + Self.renewalInterval
        lastHeard = now
        probe = Probe(token: token, began: now, due: now)
    }

    var deadline: Instant {
        if isLost { return end }
        return min(min(renewal, suspicion ?? renewal), min(probe?.due ?? renewal, end))
    }

    mutating func step(at now: Instant, using generator: inout some RandomNumberGenerator) -> Step {
        if end <= now { return .over }
        guard !isLost else { return .nothing }
        if let suspicion, suspicion <= now {
            self.suspicion = nil
            // Not all who hear a talker are to ask at one time.
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
        guard let probe, probe.due <= now else { return .nothing }
        if probe.sentCount < Self.maximumProbeCount {
            let isLast = probe.sentCount == Self.maximumProbeCount - 1
            let roundTrip = isLast ? shortestRoundTrip.map { $0 * 3 / 2 } ?? .zero : .zero
            self.probe?.sentCount += 1
            self.probe?.due = now + max(Self.probeInterval, roundTrip)
            return .renew(token: probe.token)
        }
        self.probe = nil
        // Something has come since the probe began, so the relay still sends to us: only its answers were lost.
        guard lastHeard <= probe.began else {
            renewal = now + Self.renewalPatience
            return .nothing
        }
        isLost = true
        return .lost
    }

    /// An unauthenticated datagram says that the relay does not know us: the relay is probed.
    mutating func doubt(at now: Instant, using generator: inout some RandomNumberGenerator) {
        guard !isLost, now - lastHeard >= Self.longestSilence || probe != nil else { return }
        beginProbe(at: now, now, using: &generator)
    }

    private mutating func beginProbe(
        at moment: Instant, _ now: Instant, using generator: inout some RandomNumberGenerator
    ) {
        if let probe {
            // A probe that was sent keeps its time to be answered.
            if probe.sentCount == 0 { self.probe?.due = min(probe.due, moment) }
        } else {
            probe = Probe(token: .random(in: 0 ... .max, using: &generator), began: now, due: moment)
        }
    }

    /// Somebody talks, we or another: the relay is to be heard from.
    mutating func talkContinues(at now: Instant) {
        if suspicion == nil, probe == nil, !isLost { suspicion = now + Self.longestSilence }
    }

    /// A packet of another's came.
    mutating func mediaReceived(at now: Instant) {
        lastHeard = now
        suspicion = now + Self.longestSilence
    }

    /// A record of the relay's came. That may be the last thing it did: while somebody talks, more is to be heard of it.
    mutating func recordReceived(at now: Instant) {
        lastHeard = now
        if suspicion != nil { suspicion = now + Self.longestSilence }
    }

    /// A renewal is answered. Returns whether the relay had been taken for lost.
    mutating func renewed(token: UInt64, lease: Duration, at now: Instant) -> Bool {
        recordReceived(at: now)
        end = now + lease
        if let probe, probe.token == token {
            let roundTrip = now - probe.began
            shortestRoundTrip = min(shortestRoundTrip ?? roundTrip, roundTrip)
            self.probe = nil
            renewal = now + Self.renewalInterval
        }
        defer { isLost = false }
        return isLost
    }
}
