internal import TenfourAudioCore

/// Bounds the age of another relay's messages by our own clock (Protocol/09-cluster.md).
///
/// A PRESENCE in which the relay repeats the counter of one of ours was sent after ours. So was each of its messages with a
/// higher counter. The relay's clock has no part in this.
struct MessageAge: Sendable {
    /// PRESENCEs of the relay, in the order of their counters, each with a time before which it was not sent.
    private var proofs: [(counter: UInt64, sentAfter: Instant)] = []

    /// The age that a message may have at most.
    static let most = Duration.seconds(2)

    /// Takes over that the PRESENCE with `counter`, which is higher than those before, was sent after `moment`.
    mutating func prove(_ counter: UInt64, sentAfter moment: Instant, at now: Instant) {
        // Of two with the same time, the lower counter proves more.
        if let last = proofs.last, last.sentAfter >= moment { return }
        proofs.removeAll { now - $0.sentAfter > Self.most }
        proofs.append((counter, moment))
    }

    /// Whether a message with this counter was certainly sent within the last two seconds.
    func isRecent(_ counter: UInt64, at now: Instant) -> Bool {
        guard let proof = proofs.last(where: { $0.counter < counter }) else { return false }
        return now - proof.sentAfter <= Self.most
    }

    mutating func forget() { proofs = [] }
}

/// The times at which this relay has sent its last PRESENCEs, by their counters.
struct SentPresences: Sendable {
    private var sent: [(counter: UInt64, time: Instant)] = []

    mutating func insert(_ counter: UInt64, at now: Instant) {
        sent.removeAll { now - $0.time > MessageAge.most }
        sent.append((counter, now))
    }

    /// Returns the time at which a PRESENCE was sent; nil if it was not sent within the last two seconds.
    func time(of counter: UInt64, at now: Instant) -> Instant? {
        sent.last { $0.counter == counter && now - $0.time <= MessageAge.most }?.time
    }

    mutating func forget() { sent = [] }
}
