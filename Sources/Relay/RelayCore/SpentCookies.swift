internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The cookies with which a session was created in the current or the previous minute, so that each cookie is used
/// once. Older cookies have expired.
struct SpentCookies: Sendable {
    private var latest: Set<UInt64> = []
    private var earlier: Set<UInt64> = []
    private var generation: Int64 = 0

    func contains(_ cookie: Cookie) -> Bool { latest.contains(cookie.mark) || earlier.contains(cookie.mark) }

    mutating func insert(_ cookie: Cookie) { latest.insert(cookie.mark) }

    mutating func turn(to now: Instant) {
        let generation = now.nanoseconds / Instant.nanoseconds(in: Cookies.generationLength)
        guard generation != self.generation else { return }
        earlier = generation == self.generation + 1 ? latest : []
        latest = []
        self.generation = generation
    }
}
