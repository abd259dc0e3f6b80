internal import TenfourAudioCore
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV

/// Counts the datagrams that nobody hears: those that we cannot decrypt, and ours that the machine of a remote refuses.
struct UselessDatagrams {
    private var unopenedCount = 0
    private var unopenedRemoteCount = 0
    /// The time of the first one from a configured remote.
    private var firstUnopened: Instant?
    /// The number of datagrams that each endpoint had refused at the last call of `update`.
    private var refusals: [Endpoint: Int] = [:]

    /// The time between two datagrams from which the remote certainly has another key.
    private static let certainty = Duration.milliseconds(200)

    /// Counts a datagram from `sender` that cannot be decrypted. Our next report goes out early, so that the
    /// remote finds out, too. A single one may be left of a former call, or forged.
    mutating func unopened(from sender: Endpoint, _ session: inout RTPSession, at now: Instant) {
        unopenedCount += 1
        guard session.configuration.remotes.contains(sender) else { return }
        guard let firstUnopened else {
            firstUnopened = now
            return session.foreignKeyFound(at: now)
        }
        if now - firstUnopened >= Self.certainty { unopenedRemoteCount += 1 }
    }

    /// Tells the session of datagrams that were refused since the last call, and adds the counts to `snapshot`.
    mutating func update(
        _ session: inout RTPSession, _ snapshot: inout RadioSnapshot, _ statistics: SocketStatistics, at now: Instant
    ) {
        if statistics.refusals != refusals {
            for remote in session.configuration.remotes
            where statistics.refusals[remote] ?? 0 > refusals[remote] ?? 0 {
                session.datagramRefused(by: remote, at: now)
            }
            refusals = statistics.refusals
        }
        (snapshot.network, snapshot.unopenedCount) = (statistics, unopenedCount)
        snapshot.unopenedRemoteCount = unopenedRemoteCount
    }
}
