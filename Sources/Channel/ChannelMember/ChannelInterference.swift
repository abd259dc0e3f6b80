internal import TenfourAudioCore

/// Counts datagrams in the relay's name that the relay has not made. A few come without an attacker: from a session that has
/// just ended, or damaged on the way.
struct Forgeries: Sendable {
    /// The number of datagrams that came so close together that somebody has made them.
    private(set) var count = 0
    private var burst: (count: Int, began: Instant) = (0, .start)
    /// The time until which nothing counts: what was on the way when a session began belongs to the one before.
    private var quietEnd = Instant.start
    var isReported = false
    /// Whether the next discarded datagram may be a member's under a group secret that we have missed.
    private var mayBeMissed = false

    /// The number of datagrams within `memory` from which somebody makes them.
    static let leastCount = 50
    static let memory = Duration.seconds(10)

    mutating func sessionBegan(at now: Instant) { quietEnd = now + Self.memory }

    /// Records that the tag of a signed announcement follows from no group secret that we hold. All announcements of others come so
    /// while they have a newer secret.
    mutating func secretIsUnknown() { mayBeMissed = true }

    mutating func discarded(_ reason: ChannelDiscard, at now: Instant) {
        defer { mayBeMissed = false }
        guard reason == .notFromRelay || reason == .forged && !mayBeMissed, now >= quietEnd else { return }
        if now - burst.began > Self.memory { burst = (0, now) }
        burst.count += 1
        if burst.count == Self.leastCount { count += burst.count } else if burst.count > Self.leastCount { count += 1 }
    }
}

extension Channel {
    /// The number of packets that somebody has forged: those beside a talker's own under its SSRC, and datagrams in the relay's
    /// name. Forged packets that nothing contradicts are not among them.
    public var interferenceCount: Int { opener.interferenceCount + forgeries.count }

    /// Counts a discarded datagram, and posts interference once.
    mutating func record(_ reception: Reception, at now: Instant) {
        if case .discarded(let reason) = reception {
            discards.count(reason)
            forgeries.discarded(reason, at: now)
        }
        guard !forgeries.isReported, interferenceCount > 0 else { return }
        forgeries.isReported = true
        events.post(.interference(count: interferenceCount))
    }
}
