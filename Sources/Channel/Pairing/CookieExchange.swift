internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// The cookie with which a station asks a relay. HELLO is sent to each address of the relay until one answers; a cookie
/// that gets old, or brings no answer, is replaced.
struct CookieExchange: Sendable {
    let addresses: [Endpoint]
    /// The address that has answered HELLO last; nil before one did.
    private(set) var relay: Endpoint?
    let nonce: UInt128
    /// The time of the first HELLO that no COOKIE has answered; nil if none is waited for.
    private(set) var begin: Instant?
    /// The time at which HELLO is due again; nil if no COOKIE is waited for.
    private(set) var next: Instant?
    private var count = 0
    private var known: KnownCookie?
    /// The cookie of the last request, also if it is replaced since then; nil before the first one.
    private(set) var latestCookie: Cookie?

    private struct KnownCookie: Sendable {
        let cookie: Cookie
        /// The time until which it is used.
        let end: Instant
        /// The time of the first request with it that is not answered.
        var request: Instant?
    }

    /// The number of HELLOs at the short interval, and the intervals.
    private static let shortCount = 4
    static let interval = Duration.milliseconds(250)
    static let longInterval = Duration.seconds(2)
    /// A cookie lives for at least 60 s.
    private static let lifetime = Duration.seconds(50)
    /// The time without an answer after which a cookie is replaced: the relay may have been restarted.
    private static let doubt = Duration.seconds(1)

    init(_ addresses: [Endpoint], nonce: UInt128) {
        precondition(!addresses.isEmpty, "a relay has an address")
        self.addresses = addresses
        self.nonce = nonce
    }

    /// Returns the cookie for a request that is sent now; nil if HELLO must be sent first.
    mutating func cookieForRequest(at now: Instant) -> Cookie? {
        if let known {
            let isDoubtful = known.request.map { now - $0 >= Self.doubt } ?? false
            if known.end <= now || isDoubtful { self.known = nil }
        }
        if known != nil, known?.request == nil { known?.request = now }
        if let known { latestCookie = known.cookie }
        return known?.cookie
    }

    /// The relay has answered a request.
    mutating func requestIsAnswered() { known?.request = nil }

    /// Returns the addresses to which HELLO must be sent now. One that has answered before is asked alone at first.
    mutating func addressesForHello(at now: Instant) -> [Endpoint] {
        if begin == nil { (begin, next, count) = (now, now, 0) }
        guard let due = next, due <= now else { return [] }
        count += 1
        next = now + (count < Self.shortCount ? Self.interval : Self.longInterval)
        if let relay, count <= Self.shortCount { return [relay] }
        return addresses
    }

    /// No request is waiting for a cookie.
    mutating func rest() { (begin, next) = (nil, nil) }

    /// Takes a COOKIE with this exchange's nonce, unless none is waited for.
    mutating func accept(_ cookie: Cookie, from sender: Endpoint, at now: Instant) -> Bool {
        guard begin != nil else { return false }
        known = KnownCookie(cookie: cookie, end: now + Self.lifetime)
        relay = sender
        rest()
        return true
    }
}
