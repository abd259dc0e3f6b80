internal import TenfourAudioCore
internal import TenfourPacing

/// Decides when a live playlist is loaded again (RFC 8216, section 6.3.4). Reads no clock.
struct HLSReloadSchedule {
    /// The moment of the next load; nil if the playlist has ended.
    private(set) var deadline: Instant?
    /// The number of loads that have failed in succession.
    private(set) var failureCount = 0
    private var failingSince: Instant?
    /// The first load since which the playlist has not changed; nil if the last one changed it, or it has ended.
    private var unchangedSince: Instant?
    private var targetDuration = Duration.zero
    private var backoff = Backoff(first: .milliseconds(500), longest: .seconds(30))

    /// The shortest and the longest time between two loads, whatever target duration a playlist states.
    private static let shortest = Duration.milliseconds(500)
    private static let longest = Duration.seconds(60)

    /// Records that a playlist has arrived that was requested at `start`. The next load follows one target duration
    /// after that, or half of one if nothing had changed.
    mutating func loaded(_ playlist: HLSMediaPlaylist, isChanged: Bool, requestedAt start: Instant) {
        (failureCount, failingSince) = (0, nil)
        unchangedSince = isChanged || playlist.isEnded ? nil : unchangedSince ?? start
        targetDuration = playlist.targetDuration
        backoff.succeeded()
        let interval = isChanged ? playlist.targetDuration : playlist.targetDuration / 2
        deadline = playlist.isEnded ? nil : start + min(max(interval, Self.shortest), Self.longest)
    }

    /// Records that a load has failed. The next one follows after a pause that doubles with each failure.
    mutating func failed(at now: Instant) {
        failureCount += 1
        failingSince = failingSince ?? now
        deadline = now + backoff.next()
    }

    /// Returns whether loads have failed for longer than `limit`; nil: no limit.
    func isGivenUp(at now: Instant, after limit: Duration?) -> Bool {
        guard let failingSince, let limit else { return false }
        return now - failingSince >= limit
    }

    /// Returns whether the playlist of a live stream has not changed for longer than `limit` and three target durations;
    /// nil: no limit.
    func isDead(at now: Instant, after limit: Duration?) -> Bool {
        guard let unchangedSince, let limit else { return false }
        return now - unchangedSince >= max(limit, targetDuration * 3)
    }

    func isDue(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }
}
